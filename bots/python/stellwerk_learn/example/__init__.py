"""A policy gradient in numpy that learns to beat `random`: `python -m stellwerk_learn.example`, or `make
learn-example`.

May import: the rest of `stellwerk_learn`, and `stellwerk_bots`. No part of the environments imports it.

Law: what is learned follows from the arguments alone, in however many processes the games are played.
"""
