"""Who plays whom at which table, and from which secret each match is dealt."""
