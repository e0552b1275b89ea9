"""The bot `searcher`: plays on from imagined states, starting with the moves of the planner.

Imports the planner besides what that imports. Law: it sees views and nothing else.
"""
