"""`stellwerk boards`: lists the shipped boards, draws one, checks a board file."""
