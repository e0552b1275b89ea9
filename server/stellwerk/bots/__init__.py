"""`stellwerk bots`: copy a starter in one of many languages.

May import: `stellwerk.shared`, bot processes, the engine and the protocol.

Law: nothing of the user's is overwritten, and a copy runs without Stellwerk's source.
"""
