"""`stellwerk token`: draw a token for a player of a closed server.

May import: `stellwerk.shared` and the server's tokens.

Law: a token is printed once and stored nowhere; the server's file has its hash.
"""
