"""The bot `searcher`: it plays games on from imagined states, and chooses the move that ends best.

It may import the engine, the rest of `stellwerk_bots` and `planner`, whose rules move for all players in the
imagined games. The law: everything hidden comes from `imagine` and the bot's own seed, never from a real
state.
"""
