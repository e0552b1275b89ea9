"""Claims: what is listed, what pays, what it changes."""
