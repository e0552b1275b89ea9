"""The chapters of the rule books: cards, tickets, claiming, tunnels, holders, technologies, stations, yards.

Imports `core`, and `boards` for the errors of board files. A part holds its own numbers
(`DrawTickets(3, keep=1)`), its moves and decisions, the fields that it adds to a state, and what it does at
the moments that `core.state.Part` lists, among them who knows what of its events, and their sentences. Law: a
part is in the game's list or it is not; none asks which game is played.
"""
