"""Generators of what `protocol/` ships: vectors, transcripts, recorded sessions.

They may import everything. Only tests import them, which hold the files to them. They are not installed.
"""
