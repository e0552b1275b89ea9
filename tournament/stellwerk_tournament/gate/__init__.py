"""The gate: one candidate against baselines, until it is known whether it may pass."""
