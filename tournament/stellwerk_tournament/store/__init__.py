"""A tournament's folder on disk: `matches.jsonl`, replays, logs, and what is still to be played.

Imports `schedule` and `ratings`. Law: a line that was written is never lost, changed or counted twice.
"""
