"""`stellwerk boards`: list the boards, show one, check board files.

May import: `stellwerk.shared`, the engine and the protocol.

Law: what is uncertain about a board is marked wherever it is shown, and its source is always named.
"""
