"""The card game's rail yards and on-track stacks: cards laid and sent on, tickets completed, halves."""
