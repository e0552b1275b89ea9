"""`stellwerk ratings`: ratings with errors from a file of results."""
