"""`stellwerk protocol`: where the specification is on this machine."""
