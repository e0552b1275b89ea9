"""The parts that every game has: cards, dice, a board with its tables, turns, the set-up, scoring, words for
people, and the contracts.

Imports `boards`. `state.py` holds the types that refer to each other: `State`, `Move`, `Decision`, `Part`,
`Action`, `RuleSet` and `Game`. Law: this room knows parts only by these contracts. It names no game and no
part.
"""
