"""The bot `planner`: rules of thumb that plan ahead, for maps and for rail yards.

It may import the engine and the rest of `stellwerk_bots`, but not `searcher`. The law: its moves follow from
what a view shows its seat, so they are the same in the real state and in every imagined one.
"""
