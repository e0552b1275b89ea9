"""`tournament.toml` and `resolved.json`: what is played, by whom, and how.

Imports the server's settings and the specification of a bot, and no other room of the tournament. Law: a file
says in all its keys what is to be done, or is refused with the line, the key, and what was expected there.
"""
