"""`stellwerk bots`: lists the languages of the starters, and copies one."""
