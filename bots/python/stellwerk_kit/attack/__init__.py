"""`stellwerk kit attack`: every valid and every hostile client of a server, a case each.

Imports the protocol. Law: a case knows nothing of the server but its protocol.
"""
