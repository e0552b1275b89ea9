"""`stellwerk demo`: a small tournament of the reference bots."""
