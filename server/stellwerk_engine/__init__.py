"""The rules of all games: board, state, decisions, dice, views and replays.

Everything that happens here is decided by the arguments. The engine knows no clock, no socket and no source
of chance but the dice it is given; that is why a game can be dealt again, searched by a bot, and verified
years later.
"""
