"""`stellwerk play`: games between bots, which are processes, or built in and played on the engine.

May import: `stellwerk.matches`, `stellwerk.shared` and all packages below.
"""
