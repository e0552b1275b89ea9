"""`stellwerk compare`: two versions of a bot on the same deals.

May import: `stellwerk.matches`, `stellwerk.shared` and all packages below.

Law: whenever the test stops, its intervals are valid.
"""
