"""Bots as processes of this machine, and the servers that are embedded to let them play.

Imports the server and everything below it, in this order: `bot_spec` (what a bot is started from), `bench`
(all that happens to its processes), `asked_bots` (whose turn it is to run in a match), `faults` and
`seat_report` (what a bot did wrong), `embedded_server`, `started_match` (one match), `standing_server`
(many). Law: what a bot does, or fails to do, is that bot's fault and stops no other bot.
"""
