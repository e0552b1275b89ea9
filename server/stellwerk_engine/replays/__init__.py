"""Replays: writing, reading, verifying."""
