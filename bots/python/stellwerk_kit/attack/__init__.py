"""The attack: it plays valid and hostile clients against a server, case by case, and reports broken laws.

A case (`line_cases.py`, `match_cases.py`, `crowd_cases.py`) is a client's part of one conversation. The
attack may import the rest of the kit, but neither engine nor server: it sees only what any client sees. The
law: it ends by itself, and two witnesses, who play a match beside it, must not notice it.
"""
