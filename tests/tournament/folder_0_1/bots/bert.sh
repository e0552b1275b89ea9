#!/bin/sh
exec python -m stellwerk_bots random
