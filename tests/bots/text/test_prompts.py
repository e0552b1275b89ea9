"""The prompts of a language model, in games that built-in bots play: short, complete, without secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

import stellwerk
from stellwerk_bots.bot import Answer, NewPlayer, Player
from stellwerk_bots.messages import Start
from stellwerk_bots.players import new_player
from stellwerk_bots.text.bot import TextBot
from stellwerk_bots.text.position import Memory, Moves, Position
from stellwerk_bots.text.prompt import LONGEST, write_prompt
from stellwerk_engine.boards.board_file import board_content
from stellwerk_engine.core.state import RuleSet
from stellwerk_engine.games.rules_in_words import rules_in_words
from stellwerk_engine.games.shipped import RULE_SETS
from tests.support import every_variant
from tests.unlisted.alps import ALPS, alps_board

SEEDS: Final = ("1", "2")
BOTS: Final = ("greedy", "random", "planner", "beginner")

Note = Callable[[Position, str], object]


def prompts_of(
    game: str | RuleSet,
    teams: int,
    note: Note,
    *,
    seed: str = "1",
    options: tuple[str, ...] = (),
    board: Path | None = None,
    moves: Moves = "shown",
) -> None:
    """Let built-in bots play, and note each position with its prompt."""

    def speaker(name: str) -> NewPlayer:
        def make(start: Start, seed_text: str) -> Player:
            player = new_player(name)(start, seed_text)

            def write(position: Position, memory: Memory) -> str:
                prompt = write_prompt(position, memory)
                note(position, prompt)
                return prompt

            def read(text: str, position: Position, memory: Memory) -> Answer:
                return player.answer(position.ask)

            return TextBot(lambda prompt: "", moves=moves, write=write, read=read)(start, seed_text)

        return make

    bots = [speaker(BOTS[(int(seed) + team) % len(BOTS)]) for team in range(teams)]
    names = [f"bot{team}" for team in range(teams)]
    rows = stellwerk.run_match(bots, game, seed=seed, options=options, board=board, names=names)
    assert {row["record"]["by_fallback"] for row in rows} == {0}


def indexes_in(prompt: str) -> Iterator[int]:
    """Yield the numbers in brackets."""
    for numbers in re.findall(r"\[([\d|]+)\]", prompt):
        yield from map(int, numbers.split("|"))


@every_variant
def test_each_prompt_is_short_and_has_each_listed_move_once(
    variant: tuple[str, int, tuple[str, ...]],
) -> None:
    game, seats, options = variant
    sizes: list[int] = []

    def note(position: Position, prompt: str) -> None:
        assert sorted(indexes_in(prompt)) == list(range(len(position.legal)))
        assert len(prompt) <= LONGEST
        sizes.append(len(prompt))

    for seed in SEEDS:
        prompts_of(game, seats // RULE_SETS[game].team_size, note, seed=seed, options=options)
    assert len(sizes) > 100 * len(SEEDS)
    assert LONGEST == 8_000


def test_a_game_in_no_list_has_its_rules_and_moves(tmp_path: Path) -> None:
    board = tmp_path / "alps.json"
    board.write_text(json.dumps(board_content(alps_board())))
    prompts: list[str] = []

    def note(position: Position, prompt: str) -> None:
        assert sorted(indexes_in(prompt)) == list(range(len(position.legal)))
        assert rules_in_words(position.game) in prompt
        prompts.append(prompt)

    prompts_of(ALPS, 2, note, board=board)
    assert any("build_station, pay 1" in prompt for prompt in prompts)
    assert "7 points for the most completed tickets" in prompts[0]


def noted(game: str, teams: int, moves: Moves = "shown") -> list[tuple[Position, str]]:
    found: list[tuple[Position, str]] = []
    prompts_of(game, teams, lambda position, prompt: found.append((position, prompt)), moves=moves)
    return found


def test_a_prompt_has_the_rules_what_the_seat_may_know_the_news_and_a_question() -> None:
    position, prompt = next(
        (position, prompt)
        for position, prompt in noted("usa", 3)
        if position.view["turn"] > 12 and position.ask["decision"]["type"] == "take_turn"
    )
    view, own = position.view, position.view["players"][position.seat]
    assert rules_in_words(position.game) in prompt
    assert f"POSITION IN TURN {view['turn']}" in prompt
    assert f"Pile: {view['pile']} cards, out of " in prompt
    for player in view["players"]:
        you = " (you)" if player["seat"] == position.seat else ""
        trains = f"{player['trains']} trains left"
        assert re.search(rf"^Seat {player['seat']}{re.escape(you)}: \d+ points?; {trains}; ", prompt, re.M)
        assert all(route in prompt for route in player["routes"])
    hand = prompt.partition("Your hand: ")[2].partition(".")[0]
    cards = re.findall(r"(\d+) ([a-z]+?)s?(?: |$)", hand)
    assert {color: int(count) for count, color in cards} == own["hand"]
    for ticket in own["tickets"]:
        assert re.search(rf"^- {ticket} \d+: (completed|no open routes|\d+ spaces? missing)", prompt, re.M)
    news = prompt.partition("SINCE YOUR TURN BEFORE\n")[2].partition("\n")[0]
    others = {player["seat"] for player in view["players"]} - {position.seat}
    assert all(re.search(rf"Seat {seat} (draws|takes|claims|keeps)", news) for seat in others)
    assert "QUESTION: take turn\n" in prompt
    assert prompt.endswith('End with one line {"index": N}, where N is the number of your move.')


def test_the_news_of_a_turn_stay_until_it_is_over() -> None:
    found = [(position, prompt) for position, prompt in noted("usa", 2) if position.seat == 0]
    pairs = [
        (first, second)
        for (first, _), (second, _) in pairwise(found)
        if second.ask["decision"]["type"] == "second_card"
    ]
    assert len(pairs) > 10
    for first, second in pairs:
        assert second.news[: len(first.news)] == first.news
        assert second.news[len(first.news) :][0].startswith("Seat 0 (you) ")


def test_a_ticket_names_the_routes_that_it_lacks() -> None:
    for position, prompt in noted("europe", 2):
        for routes in re.findall(r"spaces? missing: (.*)", prompt):
            for route in routes.split(", "):
                assert (
                    position.game.board.routes[position.game.board.route_ids[route]].bit
                    & position.state.open_mask
                )


def test_nothing_that_is_hidden_from_the_seat_changes_its_prompt() -> None:
    """What is imagined differs with the seed text of the bot, and the prompts do not."""

    def prompts(seed_text: str) -> list[str]:
        found: list[str] = []

        def make(start: Start, _: str) -> Player:
            def model(prompt: str) -> str:
                found.append(prompt)
                return '{"index": 0}'

            return TextBot(model)(start, seed_text)

        stellwerk.run_match([make, "greedy"], "team_asia", seed="1")
        stellwerk.run_match([make, "greedy"], "europe", seed="1")
        return found

    assert prompts("one") == prompts("other")


def test_hidden_moves_leave_forms_and_open_routes() -> None:
    for position, prompt in noted("europe", 2, moves="hidden"):
        assert not list(indexes_in(prompt))
        if any(move["type"] == "claim_route" for move in position.legal):
            assert '{"type": "claim_route", "route": "<route>", "cards": {"<color>": "<number>"}}' in prompt
            assert re.search(r"^gray 8 tunnel 3: petrograd-stockholm$", prompt, re.M)
            return
    pytest.fail("no claim was asked for")
