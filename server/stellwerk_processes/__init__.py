"""Bots as processes of this machine, and the servers that are embedded to let them play.

Imports the server and everything below it, in this order: `bot_spec` (what a bot is started from), `sandbox`
(what it may see and do), `cores` (where it runs), `family` (its processes), `bot_process` (start, hear, end
it), `resolve_sandbox` (which level holds here), `answer_time` and `freezer` (what its answers took, and a
rest between them), `asked_bots` (both in a match), `faults` and `seat_report` (what it did wrong),
`embedded_server`, `started_match` (one match), `standing_server` (many). Law: what a bot does, or fails to
do, is that bot's fault and stops nobody else.
"""
