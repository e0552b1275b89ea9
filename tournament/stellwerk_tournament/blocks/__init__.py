"""Blocks that travel: written to files, played on any machine, and merged into the tournament's folder.

May import: all rooms of this package but `gate`, and what is below it.

Law: the tournament's folder is the only truth. Results are checked by playing their replays again, and count
once, from anybody and however often.
"""
