"""The rules of all games: board, state, decisions, dice, views and replays.

Everything that happens here is decided by the arguments. The engine knows no clock, no socket and no source
of chance but the dice it is given; that is why a game can be dealt again, searched by a bot, and verified
years later.

Its rooms, each of which imports only the rooms before it (and `stellwerk_protocol`):

    boards <- core <- parts <- games
                        parts <- knowledge
    core <- engine.py;  games, engine.py <- replays

`engine.py` is the door: what servers, bots and tools call to list, check and make moves.
"""
