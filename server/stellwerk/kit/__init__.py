"""`stellwerk kit`: the conformance kit, a module for each of its commands."""
