"""Blocks that travel: written to files, played on any machine, and merged into the tournament's folder.

May import: all rooms of this package but `gate`, and what is below it.

Law: the tournament's folder is the only truth. What comes back is checked by playing its replays again, and
counts once, whoever brings it and however often.
"""
