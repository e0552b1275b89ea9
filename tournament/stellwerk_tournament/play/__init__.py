"""A tournament being played: matches side by side until the schedule is done."""
