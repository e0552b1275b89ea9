"""The sandbox of one bot: what it may see and do, who ends all its processes, and what was seen to hold.

In this order: `levels` (the words and the records), `orders` (what is handed to a supervisor), `confine`,
`inodes`, `waits` and `supervise` (the program beside each bot, alone and from the standard library),
`landlock` and `seccomp` (the filters, as bytes that the supervisor loads), `bubblewrap`, `users` and `views`
(what a level is made of), `machine` (what a bot is told of the machine), `launch` (the plan of a start). Law:
what cannot be set up is the machine's fault, and a bot never starts below its level.
"""
