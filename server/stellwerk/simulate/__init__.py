"""`stellwerk simulate`: many games between built-in policies.

May import: `stellwerk.shared`, the bots' policies, the engine and the protocol.

Law: game number i follows from the seed and i alone, whatever is played beside it and in how many processes.
"""
