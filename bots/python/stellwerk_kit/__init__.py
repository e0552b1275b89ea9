"""The conformance kit: what a bot must do, tried out on it."""
