"""`stellwerk gate`: whether a candidate may pass, for CI."""
