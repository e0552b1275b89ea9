"""`stellwerk tournament`: competitions of bots, from `init` to the report."""
