"""The card game's yards: laying cards, sending them on, completing tickets."""
