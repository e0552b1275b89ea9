"""Who plays whom at which table, and from which secret each match is dealt.

Imports `config`. Law: a block follows from the plan and its number, and in a Swiss tournament from the
results before it. So a schedule that was lost can be made again.
"""
