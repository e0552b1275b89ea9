"""Stations: where they are built, what they cost, and the routes of others that they use at the end."""
