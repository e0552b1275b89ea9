"""`stellwerk simulate`: many games between built-in policies."""
