"""The one command, `stellwerk`: the top layer, which wires the others together and does nothing else."""
