"""`stellwerk replay`: shows a replay, or verifies it."""
