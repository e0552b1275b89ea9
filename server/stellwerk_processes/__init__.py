"""Bots as processes of this machine, and the servers that are embedded to let them play.

Imports the server and everything below it. Law: what a bot does, or fails to do, is that bot's fault and
stops nobody else.
"""
