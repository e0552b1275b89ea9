"""One match: seats, asks, time, who hears what."""
