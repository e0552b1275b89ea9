"""Ratings with errors, as pure functions of what happened.

Imports numpy and nothing of the other rooms. Law: the same matches give the same ratings.
"""
