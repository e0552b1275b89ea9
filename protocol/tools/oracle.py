"""Random games that two implementations of the rules must play alike: the engine, and the one in
`protocol/verifiers/javascript`, which was written from the pages of `protocol/` alone.

`python -m tools.oracle` plays games of every variant, some of them with other parts than the shipped ones. It
sends all that the rules define at each move through a pipe to `compare_games.mjs`, which plays the same game
and answers with the first difference. A game depends on its label alone. The label of one that differs is
printed, and `--label` plays it again.

A game is a sequence of lines: `match`; `set_up`; a `point` for each move (as in `conformance/vectors/rules`,
with the seats that owe a move); now and then a `view` of each viewer, with the events of the last move;
`end`; `replay`: the bodies of its lines; `forged`, for some: a line of it that was changed, and the engine's
verdict; `over`.
"""

from __future__ import annotations

import argparse
import json
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final

import msgspec

from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine
from stellwerk_engine.boards.board_file import (
    BoardError,
    BoardFile,
    board_content,
    canonical_text,
    parse_board,
    shipped_board,
)
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Events, Move, RuleSet, Seat, State
from stellwerk_engine.games.described import described_fields, parts_of, rules_named
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view, viewer_kind
from stellwerk_engine.replays.verify import verify
from stellwerk_engine.replays.writer import ReplayWriter, header_of
from stellwerk_protocol import moves
from stellwerk_protocol.canonical import encode, unseal
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.parts import Parts
from tests.engine.forms import rewritten
from tests.engine.recordings import Choose, canonical_json, members, mixed, resealed
from tests.golden.golden_games import buying, collecting, first, refuse_tickets, thrifty
from tests.properties.wires import any_wire
from tests.support import VARIANTS, variant_id
from tools.game_vectors import doubling, emptying, half_planned, hoarding, inventing, laid_again, wishing

Json = dict[str, Any]  # Any: a JSON value
Variant = tuple[str, int, tuple[str, ...]]

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PROGRAM: Final = REPOSITORY / "protocol" / "verifiers" / "javascript" / "compare_games.mjs"

WIRES: Final = 5  # random moves to try at every decision
UNLISTED: Final = 0.3  # how often a move is made that is legal but not listed, if one was found
OTHER_BOARDS: Final = 0.4  # how many games have a board of their own
OTHER_PARTS: Final = 0.3  # how many games are in no list: a shipped game with other numbers and parts
LATE: Final = 0.03  # how often the fallback is made for a seat
VIEWS: Final = 0.02  # how often all views are compared
FORGERIES: Final = 6  # of a replay that is forged
FORGED: Final = 0.25  # how many replays are
REWRITTEN: Final = 0.5  # how many forgeries say the same in another text, or something that says nothing
SEED_LAST: Final = 0.3  # how many replays reveal the seed after the end

_encode = msgspec.json.Encoder().encode

GOOD, DIFFERENT = range(2)  # exit codes


# -- players -----------------------------------------------------------------------------------------


def _with_taste(label: str) -> Choose:
    """Prefer some kinds of moves, by chance, for the whole game."""
    chance = Random(label)
    weights: dict[str, float] = {}

    def choose(state: State, seat: Seat, listed: list[Move]) -> Move:
        tags = [str(move.wire.__struct_config__.tag) for move in listed]
        for tag in tags:
            weights.setdefault(tag, chance.choice((0.01, 0.1, 1.0, 1.0, 1.0, 10.0)))
        return chance.choices(listed, [weights[tag] for tag in tags])[0]

    return choose


PLAYERS: Final[tuple[Callable[[str], Choose], ...]] = (
    mixed,
    _with_taste,
    _with_taste,
    lambda label: half_planned(label)(),
    lambda label: hoarding(label)(),
    lambda label: inventing(label)(),
    lambda label: emptying(label)(),
    lambda label: wishing(label)(),
    lambda label: doubling(label)(),
    buying,
    thrifty,
    lambda label: planner,
    lambda label: collecting,
    lambda label: refuse_tickets,
    lambda label: first,
    lambda label: lambda state, seat, listed: listed[-1],
)


# -- one game ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Label:
    """All that a game follows from."""

    variant: Variant
    number: int
    seed: str

    def __str__(self) -> str:
        return f"{variant_id(self.variant)}/{self.number}/{self.seed}"


def lines_of(label: Label) -> Iterator[bytes]:
    """Play a game, and yield its lines without their newlines."""
    _, players, options = label.variant
    chance = Random(str(label))
    choose = PLAYERS[label.number % len(PLAYERS)](str(label))
    seed = seed_from_text(str(label))
    rules = _rules(label, chance)
    game = make_game(rules, _board(label, rules, chance), players, options)
    events: Events = []
    state = engine.new_game(game, Dice(seed), events)
    writer = ReplayWriter()
    is_seed_last = chance.random() < SEED_LAST
    replay = [writer.header(header_of(game))]
    if not is_seed_last:
        replay.append(writer.reveal(seed))
    replay.append(writer.set_up(events))
    yield _encode(
        {
            "type": "match",
            "id": str(label),
            "game": game.id,
            **({} if game.id in RULE_SETS else {"parts": parts_of(game.rules)}),
            "board": canonical_text(game.board.file),
            "players": players,
            "options": options,
            "seed": seed.hex(),
        }
    )
    yield _encode({"type": "set_up", "events": events})
    yield from _views(state, events)
    made = 0
    while state.pending is not None:
        for seat in engine.owing(state):
            point, move, is_late = _point(state, seat, choose, chance)
            events = []
            engine.apply(state, seat, move, events)
            yield _encode({**point, "move": move.wire, "events": events})
            replay.append(writer.move(state, seat, move, events, by_fallback=is_late))
            made += 1
            if chance.random() < VIEWS:
                yield from _views(state, events)
    yield from _views(state, events)
    assert state.result is not None
    replay.append(writer.end(state.result))
    if is_seed_last:
        replay.append(writer.reveal(seed))
    yield _encode({"type": "end", "result": state.result})
    bodies = [unseal(line)[0] for line in b"".join(replay).splitlines(keepends=True)]
    yield _encode({"type": "replay", "bodies": [body.decode() for body in bodies], "moves": made})
    if chance.random() < FORGED:
        yield from (_forged(bodies, chance) for _ in range(FORGERIES))
    yield _encode({"type": "over"})


def _rules(label: Label, chance: Random) -> RuleSet:
    """Return the rules of the game, now and then those of a game in no list."""
    game_id, players, options = label.variant
    shipped = RULE_SETS[game_id]
    changes = [described_fields(option.changes) for option in shipped.options if option.id in options]
    if chance.random() >= OTHER_PARTS:
        return shipped
    while True:
        parts = {name: value for change in changes for name, value in change.items()}
        description = json.loads(encode(msgspec.structs.replace(parts_of(shipped), **parts)))
        _change_parts(description, chance)
        try:
            other = _decode_parts(json.dumps(description))
            rules = rules_named(f"other_{game_id}", 1, players, options, other)
            make_game(rules, shipped_board(shipped.board), players, options)
        except (GameError, BoardError, msgspec.ValidationError):
            continue  # these parts do not go together, or the board is too small for them
        return rules


_decode_parts = msgspec.json.Decoder(Parts).decode


def _change_parts(parts: Json, chance: Random) -> None:
    """Give parts other numbers, and a game other ones beside its own."""
    parts["train_cards"]["locomotives_dealt"] = chance.choice((0, 0, 1, 2))
    parts["menu"][0]["second_optional"] = chance.random() < 0.3
    parts["set_up"][-1]["shuffle_returned"] = chance.random() < 0.3
    if chance.random() < 0.3:
        parts["menu"].append({"part": "build_station", "number": 2, "points_left": 3})
    if chance.random() < 0.3:
        parts["bonuses"] = [
            {"part": "for_the_most", "name": "guide", "points": 6, "amount": "completed_tickets"}
        ]
    chance.shuffle(parts["menu"])
    chance.shuffle(parts["tie_breaks"])
    _change_numbers(parts, chance.choice((0.02, 0.1, 0.3)), chance)


def _change_numbers(value: Any, share: float, chance: Random) -> None:  # Any: JSON, changed where it stands
    for name, inner in members(value).items():
        if members(inner):
            _change_numbers(inner, share, chance)
        elif isinstance(inner, int) and name != "team_size" and chance.random() < share:
            value[name] = not inner if isinstance(inner, bool) else inner + chance.choice((-1, 1))


def _board(label: Label, rules: RuleSet, chance: Random) -> BoardFile:
    """Return the game's board, now and then with other numbers, so that piles run out, markets are exchanged
    again and again, and players pass."""
    game_id, players, options = label.variant
    shipped = shipped_board(RULE_SETS[game_id].board)
    while chance.random() < OTHER_BOARDS:
        content = json.loads(msgspec.json.encode(board_content(shipped)))
        content["cards_each_color"] = chance.randint(3, 9)
        content["locomotives"] = chance.choice((0, 2, 4, 8, 14, 30, 60))
        content["tickets"] = chance.sample(content["tickets"], chance.randint(20, len(content["tickets"])))
        if "trains" in content:
            content["trains"] = chance.randint(4, 50)
            chance.shuffle(content["routes"])
        try:
            board = parse_board(json.dumps(content), "other.json")
            make_game(rules, board, players, options)
        except BoardError:
            continue
        return board
    return shipped


def _point(state: State, seat: Seat, choose: Choose, chance: Random) -> tuple[Json, Move, bool]:
    """Return what the rules define before a move, the move, and whether it is a fallback."""
    assert state.pending is not None
    listed = engine.legal(state, seat)
    refused, accepted = _tried(state, seat, listed, chance)
    fallback = engine.fallback(state, seat)
    is_late = chance.random() < LATE
    if is_late:
        move = fallback
    elif accepted and chance.random() < UNLISTED:
        move = chance.choice(accepted)
    else:
        move = choose(state, seat, listed)
    point: Json = {
        "type": "point",
        "seat": seat,
        "owing": engine.owing(state),
        "decision": state.pending.to_wire(state, seat, sees_all=True),
        "legal": [each.wire for each in listed],
        "legal_complete": engine.legal_complete(state, seat),
        "fallback": fallback.wire,
        "refused": refused,
        "accepted": [each.wire for each in accepted],
    }
    return point, move, is_late


def _tried(state: State, seat: Seat, listed: Sequence[Move], chance: Random) -> tuple[list[Json], list[Move]]:
    """Try random moves; return those that are refused, with code and pointer, and those that are legal but
    not listed."""
    known = {move.json for move in listed}
    refused: list[Json] = []
    accepted: list[Move] = []
    tried: Iterable[moves.Move] = (any_wire(state, seat, chance) for _ in range(WIRES))
    for wire in (*islice(laid_again(state, seat), WIRES), *tried):
        try:
            move = engine.check(state, seat, wire)
        except IllegalMoveError as error:
            refused.append({"move": wire, "code": error.code, "pointer": error.pointer})
        else:
            if move.json not in known:
                accepted.append(move)
    return refused, accepted


def _views(state: State, events: Events) -> Iterator[bytes]:
    """Yield every viewer's view, and the events of the last move as they get them."""
    for viewer in (*range(state.game.seat_count), PUBLIC, ALL_HANDS):
        yield _encode(
            {
                "type": "view",
                "viewer": viewer if viewer >= 0 else viewer_kind(viewer),
                "events": [redact(event, state.game, viewer) for event in events],
                "view": view(state, viewer),
            }
        )


# -- forgeries ---------------------------------------------------------------------------------------


def _forged(bodies: Sequence[bytes], chance: Random) -> bytes:
    """Change a replay in one place, and return the line and the engine's verdict."""
    at = chance.randrange(len(bodies))
    body = rewritten(bodies[at], chance) if chance.random() < REWRITTEN else _changed(bodies[at], chance)
    verdict = verify(resealed([*bodies[:at], body, *bodies[at + 1 :]]))
    kinds = {None: "good", "differs": "untrue", "not_a_replay": "untrue"}
    return _encode(
        {
            "type": "forged",
            "at": at + 1,
            "body": body.decode(),
            "verdict": kinds.get(verdict.fault, "unjudged"),
            "line": verdict.line,
        }
    )


def _changed(body: bytes, chance: Random) -> bytes:
    """Say something else in the line."""
    while True:
        value = json.loads(body)
        _change(value, chance)
        changed = canonical_json(value)
        if changed != body:
            return changed


def _change(value: Any, chance: Random) -> None:  # Any: JSON, to be made wrong in any way
    """Change one of the values in a record or a list, or in one of its own, and so on."""
    while True:
        inner = members(value)
        key: Any = chance.choice(list(inner))  # Any: a name or a position, as the value has them
        if not members(inner[key]) or chance.random() < 0.1:
            break
        value = inner[key]
    if isinstance(value, list) and chance.random() < 0.2:
        if chance.random() < 0.5:
            value.insert(key, inner[key])  # pyright: ignore[reportUnknownMemberType]  # any JSON
        else:
            value.reverse()
    elif chance.random() < 0.15:
        del value[key]
    elif isinstance(value, dict) and chance.random() < 0.05:
        value[chance.choice(("constructor", "__proto__", "note", "color", "seat"))] = inner[key]
    else:
        value[key] = _other(inner[key], chance)


def _other(value: object, chance: Random) -> object:
    match value:
        case bool():
            return not value
        case int():
            return chance.choice((value + 1, value - 1, -value, 2**53 - 1, str(value)))
        case str():
            return chance.choice((f"{value}x", value[:-1], value.upper(), "red", "", 0))
        case _:
            return chance.choice(({}, [], 0, "red", None, [value]))


# -- many games --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """The outcome of some games: how many things of each kind were compared, and the differences by label."""

    counts: Counter[str]
    differences: dict[str, str]


def compare(labels: Iterable[Label], show: Callable[[str], None] = lambda line: None) -> Outcome:
    """Play games, and let the other implementation play them, too. Show each difference when it is found."""
    counts, differences = Counter[str](), dict[str, str]()
    with subprocess.Popen(["node", str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None

        def send() -> None:
            assert program.stdin is not None
            with suppress(BrokenPipeError), program.stdin as pipe:  # its exit code says the rest
                for label in labels:
                    for line in lines_of(label):
                        pipe.write(line + b"\n")
                    pipe.flush()

        with ThreadPoolExecutor(1) as sender:  # the other program answers while the next game is played
            sent = sender.submit(send)
            for answer in program.stdout:
                game = json.loads(answer)
                label, difference = game.pop("id"), game.pop("difference")
                counts.update({"games": 1, **game})
                if difference is not None:
                    differences[label] = difference
                    show(f"{label}: {difference}")
            sent.result()
    if program.returncode != 0:
        raise RuntimeError(f"{PROGRAM.name} ended with {program.returncode}")
    return Outcome(counts, differences)


def labels(games: int, seed: str, variants: Sequence[Variant]) -> Iterator[Label]:
    """Yield the labels of games, of each variant in turn."""
    for number in range(games):
        yield Label(variants[number % len(variants)], number // len(variants), seed)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=220, help="how many games, of all variants in turn")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="other games than those of other seeds")
    parser.add_argument("--only", default="", metavar="TEXT", help="variants with this text in their names")
    parser.add_argument("--label", help="one game again, by the label that was printed")
    arguments = parser.parse_args()
    if arguments.label is not None:
        chosen = [_read_label(parser, arguments.label)]
    else:
        variants = [each for each in VARIANTS if arguments.only in variant_id(each)]
        if not variants:
            parser.error(
                f"no variant has {arguments.only} in its name: {', '.join(map(variant_id, VARIANTS))}"
            )
        chosen = list(labels(arguments.games, arguments.seed, variants))
    begin = monotonic()
    outcome = compare(chosen, lambda line: print(line, flush=True))
    said = ", ".join(f"{number} {what}" for what, number in outcome.counts.items())
    seed = chosen[0].seed
    print(f"seed {seed}: {said}; {len(outcome.differences)} games differ; {monotonic() - begin:.0f} s")
    return DIFFERENT if outcome.differences else GOOD


def _read_label(parser: argparse.ArgumentParser, text: str) -> Label:
    match text.split("/"):
        case [name, number, seed] if number.isdecimal():
            for variant in VARIANTS:
                if variant_id(variant) == name:
                    return Label(variant, int(number), seed)
        case _:
            pass
    parser.error(f"{text} is no label, such as usa-2/7/3f0a91bc")


if __name__ == "__main__":
    sys.exit(main())
