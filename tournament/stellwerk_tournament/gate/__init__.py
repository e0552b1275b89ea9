"""The gate: matches of a candidate against baselines until it is known whether the candidate is good enough.

May import: `config`, `play`, `ratings`, `schedule` and `store` of this package, and what is below it.

Law: the probability of a wrong verdict is at most what the user allows, whenever the test stops.
"""
