"""`stellwerk watch`: live pages of a server, of recorded matches, or of a tournament."""
