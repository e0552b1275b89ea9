"""Ratings with honest errors, from ranks alone: of this project's matches or of any other game's.

May import: numpy, `stellwerk_engine` for names of games, `stellwerk_protocol`. It knows no tournament.

Law: matches of a block share their luck, so a block is one observation. A figure that the matches do not
determine is absent or marked, and never a guess.
"""
