"""Board files: their format, every error with its place, and the boards that come with Stellwerk.

Imports no other room. Law: whatever the bytes are, a reader gets a sound `BoardFile` or one `BoardError` that
names the place in the file (`protocol/BOARDS.md`).
"""
