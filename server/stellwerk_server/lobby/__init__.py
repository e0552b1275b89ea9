"""The way into a match: logins, sessions, rooms, tokens, limits, and recovery after a crash.

Imports `match` and the rooms below it. Laws: what a message may do in a phase is one table; callers use
`Lobby`, and each of its parts alone changes what it keeps; a program that embeds the server gets what happens
as typed events (`news.py`), in their order.
"""
