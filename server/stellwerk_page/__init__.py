"""The match page: a recorded match as one HTML file that shows it and checks it. Also drawings of boards and
of positions (`drawing.py`, `position.py`), with the same layout.

Imports the engine and the protocol. `content/` has the page itself: plain ES modules, which import one
another and the verifier of `protocol/verifiers/javascript`. Law: a page needs nothing but itself (no network,
no other file), and what a replay or its name says reaches it as text only.
"""
