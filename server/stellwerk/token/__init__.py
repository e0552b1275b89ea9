"""`stellwerk token`: a token for a player of a closed server."""
