"""A tournament being played: matches side by side until the schedule is done.

Imports all rooms below it: `store`, `schedule`, `config`, `ratings`. Law: what a bot does wrong is the bot's
fault; what goes wrong with this machine is nobody's, and the match is played again.
"""
