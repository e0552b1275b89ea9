"""`stellwerk completion`: what a shell needs to complete the command's words.

May import: `stellwerk.shared` and the parsers of all subcommands.

Law: the words are read off the parsers, so a new option is completed without another line anywhere.
"""
