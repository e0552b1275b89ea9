"""The games: each is a file that lists parts with their numbers and reads as its rules do.

Imports `parts` and `core`. `shipped.py` lists the games. Law: a game is a value; it has no code of its own.
"""
