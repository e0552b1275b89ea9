"""Matches on disk while they are played, and what a server that was killed does with them."""
