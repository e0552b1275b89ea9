"""`stellwerk play`: games between bots that are started as processes."""
