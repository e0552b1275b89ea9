"""Tournaments: ratings as pure functions of what happened, and thin modules that play and keep matches."""
