"""`stellwerk ratings`: ratings from a file of matches of any game.

May import: `stellwerk.shared`, the ratings of tournaments and the protocol.

Law: no rating is shown without its interval, and numpy is imported only when the command runs.
"""
