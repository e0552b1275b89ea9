"""The knowledge of viewers: views, redacted events, events folded into views, states imagined from a view.

Imports `parts` and `core`, and no game. Law: a fact is shown to no viewer without a decision. Folding
the events of a viewer gives its view, and dealing everything hidden anew changes neither.

`limits.py` computes how long a message about a game can become. Facts of one part only are beside the part:
`redact.py`, `fold.py`, `imagine.py` and `limits.py` call it.
"""
