"""What an operator meets: settings, status, logs, descriptors."""
