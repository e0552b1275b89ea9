"""Games that are mixed from the parts of the shipped ones: what is accepted can be played to the end, and
both programs judge it alike."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import msgspec

from stellwerk_engine.boards.board_file import BoardError, shipped_board
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Game
from stellwerk_engine.games.described import parts_of, rules_named
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.replays.verify import verify
from tests.engine.recordings import mixed, record
from tests.protocol.test_verifier import GOOD, judged
from tests.tools import needs
from tests.unlisted.alps import alps

SEEDS = range(60)  # every fourth of these mixtures is a game
FIELDS = ("train_cards", "set_up", "last_round", "bonuses", "tie_breaks", "before_action")


def mixed_game(seed: int) -> Game:
    """Mix a game, on the board of one of its ancestors. GameError or BoardError if the parts do not fit."""
    chance = Random(seed)
    ancestors = [*RULE_SETS.values()]
    base = chance.choice(ancestors)
    changes = {
        field: getattr(parts_of(chance.choice(ancestors)), field) for field in FIELDS if chance.random() < 0.4
    }
    menu = {type(part): part for part in parts_of(base).menu}
    for other in ancestors:
        menu |= {type(part): part for part in parts_of(other).menu if chance.random() < 0.25}
    actions = [*menu.values()]
    chance.shuffle(actions)
    parts = msgspec.structs.replace(parts_of(base), menu=tuple(actions), **changes)
    seats = chance.choice(base.seat_counts)
    rules = rules_named(f"mixed{seed}", 1, seats, (), parts)
    return make_game(rules, shipped_board(base.board), seats)


@cache
def recorded_mixtures() -> list[list[bytes]]:
    replays: list[list[bytes]] = []
    for seed in SEEDS:
        try:
            game = mixed_game(seed)
        except (GameError, BoardError):
            continue
        replays.append(record(game, mixed(str(seed))))
    return replays


def test_what_is_accepted_can_be_played_to_the_end() -> None:
    assert len(recorded_mixtures()) >= 10
    assert [verify(replay).fault for replay in recorded_mixtures()] == [None] * len(recorded_mixtures())


@needs("node")
def test_games_in_no_list_are_judged_by_the_other_program(tmp_path: Path) -> None:
    code, verdicts = judged(tmp_path, [record(alps(2)), record(alps(3)), *recorded_mixtures()])
    assert [verdict for verdict in verdicts if not verdict.endswith(": ok")] == []
    assert code == GOOD
