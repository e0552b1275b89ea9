"""`stellwerk tournament`: let many bots play for a ranking.

May import: `stellwerk.shared` and all packages below.

Law: its folder is the only state: a command that is interrupted resumes from there.
"""
