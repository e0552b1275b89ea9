"""The games, each a rule set made of parts."""
