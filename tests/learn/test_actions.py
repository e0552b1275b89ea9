"""Moves as integers: every listed move can be reached, nothing is a dead end, and the files say the same."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given

from stellwerk_engine import engine
from stellwerk_engine.core.cards import from_wire
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.parts.rail_yards.lay_cards import Lay
from stellwerk_learn.actions import action_map
from stellwerk_learn.stages import IllegalActionError, Stages
from stellwerk_protocol.cards import Cards
from tests.properties.playing import Line, Variant, examples, lines, played
from tests.support import VARIANTS, every_variant, table
from tools.generate import PROTOCOL

Json = dict[str, Any]  # Any: a document of JSON

COLORS = ("purple", "blue", "orange", "white", "green", "yellow", "black", "red", "locomotive")


@every_variant
@examples(2)
@given(line=lines)
def test_every_listed_move_can_be_reached_and_no_stage_is_a_dead_end(variant: Variant, line: Line) -> None:
    actions = action_map(table(*variant))
    chance = Random(line.chance)
    for state in played(variant, line):
        for seat in engine.owing(state):
            paths = actions.paths(engine.legal(state, seat))
            for number, path in enumerate(paths):
                stages = Stages(paths)
                while (index := stages.choose(path[len(stages.chosen)])) is None:
                    assert stages.choices
                assert index == number
            stages = Stages(paths)
            while stages.choose(chance.choice(sorted(stages.choices))) is None:
                assert len(stages.choices) > 1


def test_a_decision_with_one_move_is_one_stage_and_a_stage_with_one_choice_is_passed_over() -> None:
    assert Stages([(1, 2, 3)]).choose(1) == 0
    stages = Stages([(1, 2, 3), (1, 2, 4)])
    assert stages.chosen == (1, 2)
    assert stages.choices == {3, 4}
    assert stages.choose(4) == 1


def test_an_integer_that_is_not_among_the_choices_changes_nothing() -> None:
    stages = Stages([(1, 2), (1, 3), (4,)])
    assert stages.choose(1) is None
    with pytest.raises(IllegalActionError, match=r"4: expected one of \[2, 3\]"):
        stages.choose(4)
    assert stages.choose(3) == 1


def test_three_laid_colors_are_said_before_the_colors() -> None:
    actions = action_map(table("card_game", 2))
    three = Lay(from_wire(Cards(red=1, black=1, blue=1)))
    [path] = actions.paths([three])
    assert [actions.names[each] for each in path] == [
        "lay_cards",
        "three_colors",
        "color:blue",
        "color:black",
        "color:red",
    ]


@pytest.mark.parametrize("game_id", RULE_SETS)
def test_a_few_hundred_integers_do_and_are_the_same_for_all_variants_of_a_game(game_id: str) -> None:
    variants = [variant for variant in VARIANTS if variant[0] == game_id]
    [names] = {action_map(table(*variant)).names for variant in variants}
    assert len(set(names)) == len(names) < 500


def test_the_names_up_to_the_last_choice_are_the_same_in_all_games() -> None:
    all_names = [action_map(table(game, rules.seat_counts[0])).names for game, rules in RULE_SETS.items()]
    shared = all_names[0].index("choice:15") + 1
    assert len({names[:shared] for names in all_names}) == 1


# -- the published files -----------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", RULE_SETS)
def test_the_examples_follow_from_the_page_and_the_file_alone(game_id: str) -> None:
    """ACTIONS.md once more, without the packages."""
    file: Json = json.loads((PROTOCOL / "actions" / f"{game_id}.json").read_text("utf-8"))
    numbers = {name: number for number, name in enumerate(file["actions"])}
    assert file["examples"]
    for example in file["examples"]:
        legal = example["legal"]
        paths: list[list[int]] = []
        for move in legal:
            path = [numbers[name] for name in _names(move, legal, file["actions"])]
            if file["actions"][path[-1]].startswith("choice:"):
                path[-1] += sum(other[:-1] == path[:-1] for other in paths)
            paths.append(path)
        assert paths == example["paths"]


def _names(move: Json, legal: list[Json], actions: list[str]) -> list[str]:
    kind = move["type"]
    match kind:
        case "take_card":
            return [f"{kind}:{move['card']}"]
        case "place_card":
            return [f"{kind}:{move['place']}"]
        case "keep_tickets" | "share_tickets" | "complete_tickets":
            among = {ticket for other in legal if other["type"] == kind for ticket in other["tickets"]}
            order = [name.partition(":")[2] for name in actions if name.startswith("take_ticket:")]
            bits = [
                f"{'take' if each in move['tickets'] else 'leave'}_ticket:{each}"
                for each in order
                if each in among
            ]
            return [kind, *bits]
        case "claim_route" | "buy_technology" | "build_station":
            [what] = [move[key] for key in ("route", "technology", "city") if key in move]
            return [f"{kind}:{what}", *_payment(move)]
        case "lay_cards" if len(move["cards"].keys() - {"locomotive"}) == 3:
            return [
                kind,
                "three_colors",
                *(f"color:{color}" for color in COLORS if color in move["cards"]),
            ]
        case "lay_cards" | "pay_tunnel":
            return [kind, *_payment(move)]
        case _:
            return [kind]


def _payment(move: Json) -> list[str]:
    hand, holder = move.get("cards", {}), move.get("holder_cards", {})
    paid = {color: hand.get(color, 0) + holder.get(color, 0) for color in COLORS[:-1]}
    most = max(paid.values())
    color = next(color for color in paid if paid[color] == most) if most else "locomotive"
    mine, shared = (hand.get(color, 0), holder.get(color, 0)) if most else (0, 0)
    counts = {
        "cards": mine,
        "locomotives": hand.get("locomotive", 0),
        "holder_cards": shared,
        "holder_locomotives": holder.get("locomotive", 0),
    }
    return [f"color:{color}", *(f"{name}:{min(count, 15)}" for name, count in counts.items()), "choice:0"]
