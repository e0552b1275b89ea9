"""Technologies: their kinds, what they bring, how they are bought, and the claims that some bring at once."""
