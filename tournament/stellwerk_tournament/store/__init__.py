"""A tournament's folder on disk. Law: a line that was written is never lost, changed or counted twice."""
