"""Claiming routes: which claims are listed, what pays for them, what they change."""
