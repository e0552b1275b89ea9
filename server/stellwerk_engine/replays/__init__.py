"""Replays: written as a game is played, read line by line, and verified by playing the game again.

Imports `engine.py`, `games`, `core` and `boards`. Law: the bytes depend on nothing but the header, the seed
and the moves (`protocol/REPLAYS.md`).
"""
