"""The parts that games are made of, each a chapter of a rule book."""
