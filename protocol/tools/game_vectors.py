"""The vectors of `protocol/conformance/vectors/rules` and `views`: games, and all that the rules define at
chosen points.

A match is given by game, options, players, seed and moves. So a program in any language can reach each of its
points by dealing (`protocol/DICE.md`) and making the moves. A point is chosen if something happens there for
one of the first times: a kind of decision, move, event or refusal, or a sign of a rule from `rule_signs.py`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final

import msgspec

from stellwerk_bots.planner.policy import planner
from stellwerk_engine import engine
from stellwerk_engine.core.cards import PLAIN_COLORS, counts, of, to_wire
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.core.state import Events, Game, Move, Seat, State
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, view
from stellwerk_protocol import canonical, moves
from stellwerk_protocol.errors import IllegalMoveError
from tests.engine.recordings import Choose, mixed
from tests.golden.golden_games import buying, collecting, first, refuse_tickets
from tests.properties.wires import any_wire
from tests.support import table
from tools.rule_signs import Refused, Step, rules_of

Json = dict[str, Any]  # Any: a JSON value

CARDS: Final = (moves.DrawCard, moves.TakeCard)

WIRES: Final = 12  # random moves to try at every decision
REFUSED: Final = 6  # of a point
EACH: Final = 2  # points at which the same thing happens, in all matches of a game
LONG: Final = 9_000  # bytes of a point that was chosen only for variety


@dataclass(frozen=True)
class Played:
    """A match to play. The seed is a text, as in `join`."""

    id: str
    game: str
    players: int
    options: tuple[str, ...]
    choose: Callable[[], Choose]

    @property
    def seed(self) -> bytes:
        return seed_from_text(f"vectors/{self.id}")


# -- players -----------------------------------------------------------------------------------------


def by_chance(label: str) -> Callable[[], Choose]:
    return lambda: mixed(label)


Wish = Callable[[State, Seat, list[Move], int], list[Move] | Move]
"""What a player wants at its n-th decision: a move, some moves of which chance chooses one, or any."""


def wishful(wish: Wish) -> Callable[[str], Callable[[], Choose]]:
    """Return a way to make players, each with a label for its chance."""

    def new(label: str) -> Choose:
        chance, count = mixed(label), itertools.count(1)

        def choose(state: State, seat: Seat, listed: list[Move]) -> Move:
            wanted = wish(state, seat, listed, next(count))
            return chance(state, seat, wanted or listed) if isinstance(wanted, list) else wanted

        return choose

    return lambda label: lambda: new(label)


def _of_kind(listed: list[Move], *kinds: type[moves.Move]) -> list[Move]:
    return [move for move in listed if isinstance(move.wire, kinds)]


@wishful
def half_planned(state: State, seat: Seat, listed: list[Move], count: int) -> list[Move] | Move:
    """Choose every second move by rules of thumb, so that games end as real ones do."""
    return planner(state, seat, listed) if count % 2 else listed


@wishful
def hoarding(state: State, seat: Seat, listed: list[Move], count: int) -> list[Move]:
    """Prefer cards to everything else, so that pile and discards run out."""
    return _of_kind(listed, *CARDS) or _of_kind(listed, moves.ClaimRoute)


@wishful
def inventing(state: State, seat: Seat, listed: list[Move], count: int) -> list[Move]:
    """Prefer technologies to everything else, then cards, and now and then a claim."""
    others = [moves.ClaimRoute] if count % 5 == 0 else [*CARDS, moves.DrawThree]
    return _of_kind(listed, moves.BuyTechnology) or _of_kind(listed, *others)


@wishful
def emptying(state: State, seat: Seat, listed: list[Move], count: int) -> list[Move] | Move:
    """Prefer tickets, then sets to lay, then cards, so that in the end somebody can only pass."""
    if isinstance(listed[-1].wire, moves.KeepTickets):
        return listed[-1]
    return _of_kind(listed, moves.DrawTickets) or _of_kind(listed, moves.LayCards) or _of_kind(listed, *CARDS)


WISHES: Final = (
    ("boiler_lagging", "superheated_steam_boiler", "scotland_concession", "wales_concession"),
    ("right_of_way", "double_heading"),
)


@wishful
def wishing(state: State, seat: Seat, listed: list[Move], count: int) -> list[Move]:
    """Save cards for its wishes, and for long routes; claim another route only now and then."""
    claims = _of_kind(listed, moves.ClaimRoute)
    long = [move for move in claims if _route_length(state, move) >= 4]
    short = claims if seat == 0 and count % 7 == 0 else []
    return _purchases(listed, *WISHES[seat % 2]) or long or short or _of_kind(listed, *CARDS)


@wishful
def doubling(state: State, seat: Seat, listed: list[Move], count: int) -> list[Move] | Move:
    """Buy Double Heading first, then claim routes with as few tickets as possible, and complete none of
    them."""
    if isinstance(listed[0].wire, moves.KeepTickets):
        return listed[:1]
    if purchases := _purchases(listed, "double_heading"):
        return purchases[0]
    claims, cards = _of_kind(listed, moves.ClaimRoute), _of_kind(listed, *CARDS)
    return claims or cards if state.technologies[seat] else cards or claims


def _purchases(listed: list[Move], *technologies: str) -> list[Move]:
    return [
        move
        for move in listed
        if isinstance(move.wire, moves.BuyTechnology) and move.wire.technology in technologies
    ]


def _route_length(state: State, move: Move) -> int:
    assert isinstance(move.wire, moves.ClaimRoute)
    board = state.game.board
    return board.routes[board.route_ids[move.wire.route]].length


ADVANCED: Final = ("advanced_technologies",)

MATCHES: Final = (
    Played("usa-2", "usa", 2, (), half_planned("usa-2")),
    Played("usa-3-hoarding", "usa", 3, (), hoarding("usa-3")),
    Played("usa-5", "usa", 5, (), by_chance("usa-5")),
    Played("card_game-2", "card_game", 2, (), half_planned("card_game-2")),
    Played("card_game-2-idle", "card_game", 2, (), lambda: refuse_tickets),
    Played("card_game-3-open_stacks", "card_game", 3, ("open_stacks",), by_chance("card_game-3")),
    Played("card_game-4", "card_game", 4, (), by_chance("card_game-4")),
    Played("card_game-4-emptying", "card_game", 4, (), emptying("e25")),
    Played("team_asia-4", "team_asia", 4, (), half_planned("team_asia-4")),
    Played("team_asia-4-hoarding", "team_asia", 4, (), hoarding("team_asia-4")),
    Played("team_asia-6", "team_asia", 6, (), by_chance("s11")),
    Played("team_asia-4-digging", "team_asia", 4, (), by_chance("t2")),
    Played("united_kingdom-2", "united_kingdom", 2, (), half_planned("united_kingdom-2")),
    Played("united_kingdom-2-advanced", "united_kingdom", 2, ADVANCED, lambda: buying("uk")),
    Played("united_kingdom-3-inventing", "united_kingdom", 3, ADVANCED, inventing("i3")),
    Played("united_kingdom-2-wishing", "united_kingdom", 2, (), wishing("w0")),
    Played("united_kingdom-2-collecting", "united_kingdom", 2, (), lambda: collecting),
    Played("united_kingdom-4-passing", "united_kingdom", 4, (), lambda: first),
    Played("united_kingdom-2-doubling", "united_kingdom", 2, (), doubling("d0")),
    Played("europe-2", "europe", 2, (), half_planned("europe-2")),
    Played("europe-3-hoarding", "europe", 3, (), hoarding("europe-3")),
    Played("europe-5", "europe", 5, (), by_chance("europe-5")),
)


# -- playing -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Match:
    """A match that was played. `states` are those before each step, and the last one."""

    played: Played
    set_up: Events
    steps: tuple[Step, ...]
    states: tuple[State, ...]


@cache
def play(played: Played) -> Match:
    return play_on(table(played.game, played.players, played.options), played)


def play_on(game: Game, played: Played) -> Match:
    choose, chance = played.choose(), Random(played.id)
    set_up: Events = []
    state = engine.new_game(game, Dice(played.seed), set_up)
    states, steps = [state.copy()], list[Step]()
    while state.pending is not None:
        for seat in engine.owing(state):
            before = states[-1]
            listed = engine.legal(state, seat)
            refused, accepted = _tried(state, seat, listed, chance)
            move = choose(state, seat, listed)
            events: Events = []
            engine.apply(state, seat, move, events)
            states.append(state.copy())
            steps.append(
                Step(
                    before=before,
                    seat=seat,
                    move=move.wire,
                    events=tuple(events),
                    after=states[-1],
                    legal=tuple(each.wire for each in listed),
                    refused=refused,
                    accepted=accepted,
                )
            )
    return Match(played, set_up, tuple(steps), tuple(states))


def _tried(
    state: State, seat: Seat, listed: list[Move], chance: Random
) -> tuple[tuple[Refused, ...], tuple[msgspec.Struct, ...]]:
    """Return one random move for each way to be refused, and random moves that are legal but not listed."""
    refused: dict[tuple[str, str, str], Refused] = {}
    accepted: list[msgspec.Struct] = []
    known = {move.json for move in listed}
    for wire in (*laid_again(state, seat), *(any_wire(state, seat, chance) for _ in range(WIRES))):
        try:
            move = engine.check(state, seat, wire)
        except IllegalMoveError as error:
            way = (str(wire.__struct_config__.tag), error.code, error.pointer)
            refused.setdefault(way, Refused(wire, error.code, error.pointer))
        else:
            if move.json not in known and len(accepted) < 2:
                accepted.append(move.wire)
    return tuple(refused.values())[:REFUSED], tuple(accepted)


def laid_again(state: State, seat: Seat) -> Iterator[moves.Move]:
    """Yield pairs and threes with colors that may already be in a rail yard."""
    if state.yards:
        held = [color for color in PLAIN_COLORS if counts(state.hands[seat])[color]]
        for color in held:
            yield moves.LayCards(to_wire(of((color, color))))
        for lying in (color for color in held if counts(state.yards[seat])[color]):
            others = [color for color in held if color != lying][:2]
            yield moves.LayCards(to_wire(of((lying, *others))))


# -- points ------------------------------------------------------------------------------------------


def _kinds(step: Step) -> set[str]:
    """Return the names of all kinds of things that happen in a step."""
    assert step.before.pending is not None
    decision = step.before.pending.to_wire(step.before, step.seat, sees_all=True)
    answer = str(step.move.__struct_config__.tag)
    refused = {f"{refused.move.__struct_config__.tag} is {refused.code}" for refused in step.refused}
    events = {str(event.__struct_config__.tag) for event in step.events}
    return {f"{decision.__struct_config__.tag} by {answer}", *events, *refused}


def _points(match: Match, seen: Counter[str]) -> dict[int, tuple[str, ...]]:
    """Return the steps that become points, with the rules that they show."""
    points: dict[int, tuple[str, ...]] = {}
    for number, step in enumerate(match.steps):
        rules = rules_of(step)
        wanted = {f"rule {rule}" for rule in rules}
        if len(_point(match, number, rules)) <= LONG:
            wanted |= _kinds(step)
        if any(seen[each] < EACH for each in wanted):
            seen.update(wanted)
            points[number] = rules
    return points


def _point(match: Match, number: int, rules: tuple[str, ...]) -> bytes:
    step = match.steps[number]
    assert step.before.pending is not None
    return _line(
        {
            "type": "point",
            "id": f"{match.played.id}/{number}",
            "rules": rules,
            "seat": step.seat,
            "decision": step.before.pending.to_wire(step.before, step.seat, sees_all=True),
            "legal": step.legal,
            "legal_complete": engine.legal_complete(step.before, step.seat),
            "fallback": engine.fallback(step.before, step.seat).wire,
            "accepted": step.accepted,
            "refused": [
                {"move": each.move, "code": each.code, "pointer": each.pointer} for each in step.refused
            ],
            "move": step.move,
            "events": step.events,
        }
    )


def _line(value: Json) -> bytes:
    return canonical.encode(msgspec.to_builtins(value)) + b"\n"


def rules_file(match: Match, points: dict[int, tuple[str, ...]]) -> bytes:
    played, game = match.played, match.states[0].game
    lines = [
        _line(
            {
                "type": "match",
                "id": played.id,
                "game": played.game,
                "rules_version": game.rules.rules_version,
                "board": game.board.file.id,
                "board_digest": game.board.file.digest,
                "players": played.players,
                "options": played.options,
                "seed": played.seed.hex(),
            }
        ),
        _line({"type": "set_up", "events": match.set_up}),
    ]
    between: list[Json] = []
    for number, step in enumerate(match.steps):
        if number in points:
            lines += _moves(between)
            between = []
            lines.append(_point(match, number, points[number]))
        else:
            between.append({"seat": step.seat, "move": step.move})
    lines += _moves(between)
    lines.append(_line({"type": "end", "result": match.states[-1].result}))
    return b"".join(lines)


def _moves(moves: list[Json]) -> list[bytes]:
    return [_line({"type": "moves", "moves": moves})] if moves else []


# -- views -------------------------------------------------------------------------------------------

LATEST_VIEWS: Final = 2  # of each kind of decision, in all matches of a game


def views_file(match: Match, seen: Counter[str]) -> bytes:
    """Return views before decisions of every kind, also after other seats have answered, and after the
    end."""
    lines: list[bytes] = []
    last = len(match.states) - 1
    for number, state in enumerate(match.states):
        kind = _moment(state)
        if number == last or (seen[kind] < LATEST_VIEWS and (number > 0 or kind != "take_turn")):
            seen[kind] += 1
            lines += (_view(match, number, viewer) for viewer in _viewers(match, number))
    return b"".join(lines)


def _moment(state: State) -> str:
    if state.pending is None:
        return "the end"
    kind = str(state.pending.to_wire(state, 0, sees_all=True).__struct_config__.tag)
    answered = sum(choice is not None for choice in state.choices)
    late = " in the last round" if state.turns_left >= 0 else ""
    middle = " in the middle" if kind == "take_turn" and state.turn > 12 * state.game.seat_count else ""
    return f"{kind}, {answered} answered{late}{middle}"


def _viewers(match: Match, number: int) -> tuple[int, ...]:
    """Return the mover, the next seat, and the two spectators."""
    owing = engine.owing(match.states[number])
    seat = owing[0] if owing else 0
    return (seat, (seat + 1) % match.played.players, PUBLIC, ALL_HANDS)


def _view(match: Match, number: int, viewer: int) -> bytes:
    state = match.states[number]
    events = match.steps[number - 1].events if number else match.set_up
    known = view(state, viewer)
    return _line(
        {
            "id": f"{match.played.id}/{number}/{viewer if viewer >= 0 else known.viewer}",
            "match": match.played.id,
            "after": number,
            "viewer": known.viewer,
            **({"seat": viewer} if viewer >= 0 else {}),
            "events": [redact(event, state.game, viewer) for event in events],
            "view": known,
        }
    )


# -- files -------------------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files."""
    for game in dict.fromkeys(played.game for played in MATCHES):
        points, views = Counter[str](), Counter[str]()
        for played in MATCHES:
            if played.game == game:
                match = play(played)
                yield f"rules/{played.id}.jsonl", rules_file(match, _points(match, points))
                yield f"views/{played.id}.jsonl", views_file(match, views)
