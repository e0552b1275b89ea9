"""`stellwerk serve`: matches over TCP."""
