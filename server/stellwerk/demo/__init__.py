"""`stellwerk demo`: a small tournament of the reference bots.

May import: `stellwerk.shared`, `stellwerk.tournament` and all packages below.

Law: it does only what an organizer can do, and shows the commands. No other subcommand uses another one.
"""
