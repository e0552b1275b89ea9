"""`stellwerk replay`: show a recorded game, or verify it.

May import: `stellwerk.shared`, the engine and the protocol.

Law: nothing is shown that the events do not say, and to a seat only what that seat could know.
"""
