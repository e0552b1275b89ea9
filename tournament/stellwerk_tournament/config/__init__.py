"""`tournament.toml` and `resolved.json`: what is played, by whom, and how.

Imports the server's settings and the specification of a bot.
"""
