"""The model of all pages: matches, the wall and its pace, the ranking, and the channels by which readers
follow them.

Plain code: no socket, no task and no clock; times come in as arguments. Law: what readers get does not
depend on how many there are, and nothing grows with the number of matches or with a reader that is slow.
"""
