"""Whether a board has what the rules of a game play with, and nothing else."""

from __future__ import annotations

from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.core.cards import MAX_CARDS
from stellwerk_engine.core.state import RuleSet


def check_fit(file: BoardFile, rules: RuleSet) -> None:
    """Raise BoardError where the board and the rules do not go together."""
    _check_features(file, rules)
    _check_cards(file, rules)
    for part in rules.parts:
        part.check_board(file, rules)


def _check_features(file: BoardFile, rules: RuleSet) -> None:
    has_map = "map" in rules.board_features
    if has_map and not file.routes:
        raise file.error("routes", f"the game {rules.id} needs a map, and this board has no routes")
    if not has_map and file.routes:
        raise file.error("routes", f"the game {rules.id} is played without a map")
    for number, route in enumerate(file.routes):
        if route.locomotives and "ferries" not in rules.board_features:
            raise file.error(f"routes[{number}].locomotives", f"the game {rules.id} has no ferries")
        if route.tunnel and "tunnels" not in rules.board_features:
            raise file.error(f"routes[{number}].tunnel", f"the game {rules.id} has no tunnels")
    for number, ticket in enumerate(file.tickets):
        if ticket.long and "long_tickets" not in rules.board_features:
            raise file.error(f"tickets[{number}].long", f"the game {rules.id} has no long tickets")
    if file.big_cities and "big_cities" not in rules.board_features:
        raise file.error("big_cities", f"the game {rules.id} has no big-city bonus")


def _check_cards(file: BoardFile, rules: RuleSet) -> None:
    """Refuse a deck that is too small to deal, to lay the market open and to draw a card, or too large for
    the engine."""
    seats = max(rules.seat_counts)
    train_cards = rules.train_cards
    if file.locomotives < seats * train_cards.locomotives_dealt:
        raise file.error(
            "train_cards.locomotive",
            f"{rules.id} deals a locomotive to each of {seats} players: expected as many",
        )
    cards = 8 * file.cards_each_color + file.locomotives
    needed = seats * (train_cards.locomotives_dealt + train_cards.dealt) + 5 + 1
    if cards < needed:
        raise file.error(
            "train_cards", f"{cards} train cards; {rules.id} with {seats} players needs {needed}"
        )
    if cards > MAX_CARDS:
        raise file.error("train_cards", f"{cards} train cards; the engine plays with at most {MAX_CARDS}")
