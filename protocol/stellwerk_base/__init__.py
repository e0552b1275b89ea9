"""Texts for people, whole files, and lines out of bytes: all packages may need them, and none owns them.

It imports no other package of ours, and the standard library alone.

Law: it knows nothing of games, messages or servers. What only one package needs stays in that package.
"""
