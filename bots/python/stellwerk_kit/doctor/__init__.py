"""The doctor: it plays the server's part against a bot, step by step, and reports broken rules.

A step (`login_steps.py`, `match_steps.py`, `resume_steps.py`) is one conversation, written down from top to
bottom: what the server sends, what must come back, what must not. The doctor may import the engine and the
rest of the kit, but nothing of the server. The law: no step demands more than `protocol/README.md`, and its
matches are real games.
"""
