"""`stellwerk serve`: a server for bots that connect over TCP.

May import: `stellwerk.shared`, the server, bot processes, the bots, the engine and the protocol.

Law: the first signal lets matches end, and the second one leaves them in their journals.
"""
