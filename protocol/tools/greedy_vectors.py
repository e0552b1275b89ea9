"""The recorded asks of `protocol/GREEDY.md`: matches from seeds, and the most informative of their asks.

Some of the players make random moves, because `greedy` alone would never reach most positions. The files have
about equally many asks for every kind of decision and answer, and for each of the wrong bots below the asks
that detect it.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stellwerk_bots import greedy as module
from stellwerk_bots.bot import IndexAnswer
from stellwerk_bots.greedy import Greedy
from stellwerk_bots.messages import Ask, Move, Start, View
from stellwerk_bots.reading import own_view
from stellwerk_engine import engine
from stellwerk_engine.core.dice import Dice, seed_from_text
from stellwerk_engine.games.shipped import RULE_SETS
from tests.bots.table import ask_for, move_of, start_for
from tests.support import table

FOLDER = Path(__file__).resolve().parents[2] / "protocol" / "conformance" / "vectors" / "greedy"

ASKS: Final = 150  # of a game, and a few more
LONGEST: Final = 5_000  # characters of an ask that was chosen only for variety
EACH: Final = 2  # asks in each match that detect a wrong bot


@dataclass(frozen=True)
class Played:
    """A match that is recorded from its seat 0. Of ten moves, `chance` are random."""

    game: str
    seats: int
    options: tuple[str, ...] = ()
    chance: int = 0
    deal: int = 0

    @property
    def match(self) -> str:
        return "-".join([self.game, str(self.seats), str(self.chance), str(self.deal)])


MATCHES: Final = (
    Played("usa", 2),
    Played("usa", 2, chance=3),
    Played("usa", 5, chance=2),
    Played("usa", 2, chance=9),
    Played("card_game", 2),
    Played("card_game", 2, chance=3),
    Played("card_game", 2, deal=4),
    Played("card_game", 2, chance=1, deal=8),
    Played("card_game", 3, chance=2),
    Played("card_game", 4),
    Played("card_game", 4, chance=5),
    Played("team_asia", 4),
    Played("team_asia", 4, chance=4),
    Played("team_asia", 6, chance=9),
    Played("united_kingdom", 2),
    Played("united_kingdom", 3, chance=3),
    Played("united_kingdom", 2, ("advanced_technologies",), chance=6),
    Played("united_kingdom", 2, ("advanced_technologies",), chance=9, deal=2),
    Played("united_kingdom", 2, ("advanced_technologies",), chance=9, deal=22),
    Played("europe", 2),
    Played("europe", 3, chance=3),
    Played("europe", 5, chance=9),
)


@dataclass(frozen=True)
class Pair:
    ask: Ask
    answer: IndexAnswer

    @property
    def kind(self) -> tuple[str, str, bool]:
        legal = self.ask["legal"]
        return self.ask["decision"]["type"], legal[self.answer["index"]]["type"], len(legal) > 1


@dataclass(frozen=True)
class Recorded:
    start: Start
    pairs: tuple[Pair, ...]


def vectors(game: str) -> str:
    """Return the file of a game."""
    matches = [play(played) for played in MATCHES if played.game == game]
    informative = [_informative(match) for match in matches]
    kept = informative
    for quota in range(1, ASKS):
        if sum(map(len, kept)) < ASKS:
            kept = [
                of_match | _spread(match, quota) for match, of_match in zip(matches, informative, strict=True)
            ]
    lines: list[dict[str, Any]] = []
    for match, of_match in zip(matches, kept, strict=True):
        lines.append({"start": match.start})
        pairs = [match.pairs[number] for number in sorted(of_match)]
        lines += ({"ask": pair.ask, "answer": pair.answer} for pair in pairs)
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def play(played: Played) -> Recorded:
    """Play a match. Return every ask to seat 0 with the answer of `greedy`, whichever move was made."""
    game = table(played.game, played.seats, played.options)
    start = start_for(game, 0, played.match)
    bot = Greedy(start, "")
    chance = random.Random(played.match)
    state = engine.new_game(game, Dice(seed_from_text(played.match)))
    asks = [0] * played.seats
    pairs: list[Pair] = []
    while state.pending is not None:
        for seat in engine.owing(state):
            asks[seat] += 1
            ask = ask_for(state, seat, asks[seat], played.match)
            answer = bot.answer(ask)
            if seat == 0:
                pairs.append(Pair(ask, answer))
            moved = (
                {"index": chance.randrange(len(ask["legal"]))}
                if chance.random() * 10 < played.chance
                else answer
            )
            engine.apply(state, seat, move_of(state, seat, moved))
    return Recorded(start, tuple(pairs))


def _spread(match: Recorded, quota: int) -> set[int]:
    """Return at most `quota` pairs of each kind, spread over the match."""
    by_kind: defaultdict[tuple[str, str, bool], list[int]] = defaultdict(list)
    for number, pair in enumerate(match.pairs):
        if _length(pair) <= LONGEST:
            by_kind[pair.kind].append(number)
    spread: set[int] = set()
    for numbers in by_kind.values():
        count = min(quota, len(numbers))
        spread.update(numbers[place * len(numbers) // count] for place in range(count))
    return spread


def _informative(match: Recorded) -> set[int]:
    """Return the shortest pairs that detect each wrong bot."""
    informative: set[int] = set()
    for name in WRONG_BOTS:
        detecting = sorted(detected_by(name, match), key=lambda number: _length(match.pairs[number]))
        informative.update(detecting[:EACH])
    return informative


def _length(pair: Pair) -> int:
    return len(json.dumps(pair.ask))


# -- wrong bots --------------------------------------------------------------------------------------


Worth = Callable[[Any, View, int], int]
"""The wrong worth of a move (Any: of whichever type), made of the right one."""


class Wrong(Greedy):
    """A `greedy` with one wrong value."""

    def __init__(self, start: Start, worth: Worth) -> None:
        super().__init__(start, "")
        self._wrong_worth = worth

    def _worth(self, move: Move, view: View) -> int:
        return self._wrong_worth(move, view, super()._worth(move, view))


class LastOfTheBest(Greedy):
    def answer(self, ask: Ask) -> IndexAnswer:
        turned = super().answer({**ask, "legal": ask["legal"][::-1]})
        return {"index": len(ask["legal"]) - 1 - turned["index"]}


def _forgets(kind: str) -> Worth:
    return lambda move, view, worth: 0 if move["type"] == kind else worth


def _sees_an_empty_yard_as_none(view: View) -> bool:
    return bool(own_view(view).get("yard"))


def _limits_for_two(view: View) -> int:
    return module.CARDS_TO_ASK_FOR // 2


def _is_paid_with(move: Any, place: str) -> int:
    count: int = move.get(place, {}).get("locomotive", 0)
    return count


FORGOTTEN: Final = (
    "keep_tickets",
    "draw_tickets",
    "buy_technology",
    "claim_route",
    "lay_cards",
    "take_card",
    "draw_three",
    "draw_card",
)

WRONG_WORTHS: Final[dict[str, Worth]] = {
    **{f"forgets {kind}": _forgets(kind) for kind in FORGOTTEN},
    "keeps as few tickets as it may, whichever": lambda move, view, worth: (
        -len(move["tickets"]) if move["type"] == "keep_tickets" and worth < -1 else worth
    ),
    "buys with any cards": lambda move, view, worth: (
        2500 if move["type"] == "buy_technology" and move["technology"] in module.TECHNOLOGIES else worth
    ),
    "does not spare locomotives": lambda move, view, worth: (
        worth + _is_paid_with(move, "cards") if worth >= 400 and "technology" not in move else worth
    ),
    "does not spare the holder's locomotives": lambda move, view, worth: (
        worth + _is_paid_with(move, "holder_cards") if worth >= 400 else worth
    ),
    "does not see the last turn": lambda move, view, worth: (
        0
        if move["type"] == "claim_route"
        and 1000 <= worth < 1060
        and own_view(view)["hand_count"] < module.LARGE_HAND
        else worth
    ),
    "does not weigh the colors it wants": lambda move, view, worth: (
        30 if move["type"] == "take_card" and worth >= 30 else worth
    ),
    "takes locomotives": lambda move, view, worth: 50 if move.get("card") == "locomotive" else worth,
    "takes no card that it lacks": lambda move, view, worth: (
        10 if move["type"] == "take_card" and worth == 30 else worth
    ),
    "wants a color of which it has one": lambda move, view, worth: (
        31
        if move["type"] == "take_card" and worth == 10 and own_view(view)["hand"].get(move["card"]) == 1
        else worth
    ),
    "does not want a color of which it has two": lambda move, view, worth: (
        10 if move["type"] == "take_card" and worth == 32 else worth
    ),
    "wants any color": lambda move, view, worth: (
        30 if move["type"] == "take_card" and move["card"] != "locomotive" and worth == 10 else worth
    ),
}

WRONG_PARTS: Final[dict[str, tuple[str, object]]] = {
    "claims shorter routes": ("GOOD_ROUTE_POINTS", 4),
    "claims only longer routes": ("GOOD_ROUTE_POINTS", 8),
    "has a large hand of 14": ("LARGE_HAND", 14),
    "has a large hand of 16": ("LARGE_HAND", 16),
    "has a lower limit": ("CARDS_TO_ASK_FOR", 54),
    "has a higher limit": ("CARDS_TO_ASK_FOR", 58),
    "rounds the limit up": ("CARDS_TO_ASK_FOR", 57),
    "leaves less room for tickets": ("ROOM_FOR_A_TICKET", 3),
    "leaves more room for tickets": ("ROOM_FOR_A_TICKET", 5),
    "has the technologies in another order": ("TECHNOLOGIES", module.TECHNOLOGIES[::-1]),
    **{
        f"does not buy {name}": ("TECHNOLOGIES", tuple(t for t in module.TECHNOLOGIES if t != name))
        for name in module.TECHNOLOGIES
    },
    "sees an empty yard as none": ("_has_yards", _sees_an_empty_yard_as_none),
    "has the limit of two players for all": ("_limit", _limits_for_two),
}

WRONG_BOTS: Final = ("makes the last of the best moves", *WRONG_WORTHS, *WRONG_PARTS)


def detected_by(name: str, match: Recorded) -> list[int]:
    """Return the places of the pairs that the wrong bot of this name answers differently, or cannot
    answer."""
    with _wrong_bot(name, match.start) as bot:
        return [number for number, pair in enumerate(match.pairs) if _answer(bot, pair.ask) != pair.answer]


def _answer(bot: Greedy, ask: Ask) -> IndexAnswer | None:
    try:
        return bot.answer(ask)
    except KeyError:  # it looks for fields that a board without a map does not have
        return None


@contextmanager
def _wrong_bot(name: str, start: Start) -> Generator[Greedy, None, None]:
    if name in WRONG_WORTHS:
        yield Wrong(start, WRONG_WORTHS[name])
    elif name in WRONG_PARTS:
        part, wrong = WRONG_PARTS[name]
        right = getattr(module, part)
        setattr(module, part, wrong)
        try:
            yield Greedy(start, "")
        finally:
            setattr(module, part, right)
    else:
        yield LastOfTheBest(start, "")


# -- the files ---------------------------------------------------------------------------------------


def recorded(game: str) -> list[Recorded]:
    """Return the content of the file of a game."""
    starts: list[Start] = []
    pairs: list[list[Pair]] = []
    for line in (FOLDER / f"{game}.jsonl").read_text("utf-8").splitlines():
        match json.loads(line):
            case {"start": start}:
                starts.append(start)
                pairs.append([])
            case {"ask": ask, "answer": answer}:
                pairs[-1].append(Pair(ask, answer))
            case other:
                raise ValueError(f"not a vector: {other}")
    return [Recorded(start, tuple(of_match)) for start, of_match in zip(starts, pairs, strict=True)]


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files."""
    for game in RULE_SETS:
        yield f"{game}.jsonl", vectors(game).encode()
