exec python -m stellwerk_bots greedy
