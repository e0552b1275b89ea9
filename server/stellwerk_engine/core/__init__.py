"""What every game has: state, decisions, turns, cards, piles, dice, scoring."""
