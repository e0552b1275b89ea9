"""Matches on disk while they are played: records, the folder of journals, replays with and without a seed.

Imports no other room of the server. Law: a record is there whole or not at all, and what remains of a journal
without its private records is the replay.
"""
