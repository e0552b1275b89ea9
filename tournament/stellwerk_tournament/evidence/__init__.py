"""The evidence of who is better, by how much, and how certain that is. `play`, `compare` and `gate` share it.

May import: `ratings` of this package, and what is below it. It knows no tournament.

Law: blocks are counted, never matches, because the matches of a block share their deal.
"""
