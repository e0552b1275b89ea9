"""`stellwerk kit doctor`: the steps that examine a bot.

Imports the protocol and the engine. Law: no step demands more than `protocol/README.md`.
"""
