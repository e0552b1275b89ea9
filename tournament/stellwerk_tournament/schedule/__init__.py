"""The tables of a tournament, and the secret from which each match is dealt.

Imports `config`. Law: a block follows from the plan and its number, and in a Swiss tournament from the
results before it. So a schedule that was lost can be made again.
"""
