"""The bench: one object starts, confines, freezes, measures and ends a bot (`local_bot.py`).

Others import the object, `levels` (the table of measures, what is asked for and what holds), `invitation`
(what a bot is started with), `resolve_sandbox` (which level holds here), `cores` (where bots run) and
`hidden_files` (a hint). Nothing else imports the rest: `orders` (what is handed to a supervisor),
`confine`, `inodes`, `waits` and `supervise` (the program beside each bot, alone and from the standard
library), `landlock` and `seccomp` (the filters, as bytes that the supervisor loads), `bubblewrap`, `cgroups`,
`users` and `views` (what a level is made of), `machine` (what a bot is told of the machine), `launch` (the
plan of a start), `private_folder`, `family` and `orphans` (what a bot leaves, and its processes), `freezer`
and `answer_time` (a rest between answers, and what they took). Law: what cannot be set up is the machine's
fault, and a bot never starts below its level.
"""
