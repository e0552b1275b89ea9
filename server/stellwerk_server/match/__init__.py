"""One match: its plan, its seats and asks, its time, who hears what, and what is written of it.

Imports `journal`, and of `operate` the settings. A session is a `Recipient` here, and no more. Laws: an act
is in the journal before anybody hears of it; each viewer hears of every event once, and of no more than it
may know; a bug ends its own match alone. What a match has to say, it returns (`MatchSession.data_to_send`).
"""
