"""`stellwerk play`: games between bots, which are processes, or built in and played on the engine.

May import: `stellwerk.shared` and all packages below.

Law: game number i follows from the seed, the bots and i alone. A fault of a bot costs that bot only its game.
"""
