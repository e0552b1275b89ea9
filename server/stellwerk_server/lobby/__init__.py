"""Logins, sessions, rooms, tokens, limits."""
