"""Technologies: buying them, and what they let their owner do."""
