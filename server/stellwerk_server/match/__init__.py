"""One match: its plan, its seats and asks, its time, who hears what, and what is written of it.

Imports `journal`. A session is a `Recipient` here, and no more. Laws: an act is in the journal before a
client hears of it; each viewer hears of every event once, and of no more than it may know; a bug ends its own
match alone. A match returns what it has to say (`MatchSession.data_to_send`).
"""
