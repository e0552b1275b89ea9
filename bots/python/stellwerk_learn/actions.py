"""The integers of a game's moves: protocol/ACTIONS.md, and protocol/actions/ for each game.

A move is a path of integers, one for each stage: its kind or route, then the payment, then a bit for each
ticket. Law: the integers follow from the game and its board alone, and the paths from these and from the
moves listed. So they are the same for every number of players and every option, and for clients in any
language.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Protocol

from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.core.game import make_game
from stellwerk_engine.core.state import Game, RuleSet
from stellwerk_engine.parts.technologies.buy_technology import technologies_of
from stellwerk_protocol import moves
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.names import COLORS, TechnologyName, TicketName

Path = tuple[int, ...]
TicketChoice = moves.KeepTickets | moves.ShareTickets | moves.CompleteTickets

MOST: Final = 15  # counted cards and like payments; an integer stands for so many or more
_KNOWN: Final = 100_000  # paths that are kept; payments with substitutes are too many
_LOCOMOTIVE: Final = len(COLORS) - 1
_PLAIN: Final = COLORS[:_LOCOMOTIVE]

# What is said the same way in every game.
_COMMON: Final = (
    "draw_card",
    "draw_three",
    *(f"take_card:{color}" for color in COLORS),
    "place_card:hand",
    "place_card:holder",
    "draw_tickets",
    "keep_tickets",
    "share_tickets",
    "complete_tickets",
    "lay_cards",
    "pay_tunnel",
    "abandon_tunnel",
    "stop",
    "pass",
    *(f"color:{color}" for color in COLORS),
    "three_colors",
    *(f"cards:{count}" for count in range(MOST + 1)),
    *(f"locomotives:{count}" for count in range(MOST + 1)),
    *(f"holder_cards:{count}" for count in range(MOST + 1)),
    *(f"holder_locomotives:{count}" for count in range(MOST + 1)),
    *(f"choice:{number}" for number in range(MOST + 1)),
)


class ListedMove(Protocol):
    """A move of a list: one of the engine's, or of a message. The JSON text is shorter to compare."""

    @property
    def wire(self) -> moves.Move: ...

    @property
    def json(self) -> bytes: ...


@dataclass(frozen=True, eq=False)
class ActionMap:
    """The integers of one game on one board: `names[n]` is what the integer n says."""

    names: tuple[str, ...]
    numbers: dict[str, int]
    tickets: tuple[TicketName, ...]
    technologies: tuple[TechnologyName, ...]
    _known: dict[bytes, Path] = field(default_factory=dict[bytes, Path])  # of moves that always have the same

    def __len__(self) -> int:
        return len(self.names)

    def paths(self, listed: Sequence[ListedMove]) -> list[Path]:
        """Return the path of each listed move. No two are alike, and none is the beginning of another."""
        known = self._known
        paths = [known.get(move.json) or self._find_path(move, listed) for move in listed]
        return paths if len(set(paths)) == len(paths) else self._told_apart(paths)

    def _find_path(self, move: ListedMove, listed: Sequence[ListedMove]) -> Path:
        match move.wire:
            case moves.KeepTickets() | moves.ShareTickets() | moves.CompleteTickets() as choice:
                return self._ticket_path(choice, listed)
            case other:
                if len(self._known) == _KNOWN:
                    self._known.clear()
                path = self._known[move.json] = tuple(self.numbers[name] for name in _words_of_path(other))
                return path

    def _ticket_path(self, choice: TicketChoice, listed: Sequence[ListedMove]) -> Path:
        wires = [move.wire for move in listed]
        among = {ticket for wire in wires if isinstance(wire, type(choice)) for ticket in wire.tickets}
        bits = (
            self.numbers[f"{'take' if ticket in choice.tickets else 'leave'}_ticket:{ticket}"]
            for ticket in self.tickets
            if ticket in among
        )
        return (self.numbers[_type_of(choice)], *bits)

    def _told_apart(self, paths: list[Path]) -> list[Path]:
        """Count payments that are alike up to their last stage, in the order in which they are listed."""
        seen: dict[Path, int] = {}
        apart: list[Path] = []
        for path in paths:
            number = seen[path] = seen.get(path, -1) + 1
            apart.append((*path[:-1], path[-1] + number))
            if number > MOST:
                raise AssertionError(
                    f"more than {MOST + 1} payments alike"
                )  # no list has so many: see the tests
        return apart


@cache
def action_map(game: Game) -> ActionMap:
    """Return the integers of the game."""
    return actions_of(game.rules, game.board.file)


def actions_of(rules: RuleSet, board: BoardFile) -> ActionMap:
    """Return the integers of a game on a board, with any options."""
    every_option = make_game(rules, board, rules.seat_counts[0], [option.id for option in rules.options])
    tickets = tuple(ticket.id for ticket in board.tickets)
    technologies = tuple(technology.id for technology in technologies_of(every_option.rules))
    names = (
        *_COMMON,
        *(f"claim_route:{route.id}" for route in board.routes),
        *(f"buy_technology:{technology}" for technology in technologies),
        *(f"build_station:{city.id}" for city in board.cities),
        *(f"{bit}_ticket:{ticket}" for ticket in tickets for bit in ("take", "leave")),
    )
    numbers = {name: number for number, name in enumerate(names)}
    return ActionMap(names, numbers, tickets, technologies)


# -- the words of a path -----------------------------------------------------------------------------


def _words_of_path(move: moves.Move) -> Iterator[str]:
    match move:
        case moves.TakeCard(card):
            yield f"take_card:{card}"
        case moves.PlaceCard(place):
            yield f"place_card:{place}"
        case moves.ClaimRoute(route, cards, holder_cards):
            yield f"claim_route:{route}"
            yield from _payment(cards, holder_cards)
        case moves.PayTunnel(cards, holder_cards):
            yield "pay_tunnel"
            yield from _payment(cards, holder_cards)
        case moves.BuyTechnology(technology, cards):
            yield f"buy_technology:{technology}"
            yield from _payment(cards, NO_CARDS)
        case moves.BuildStation(city, cards):
            yield f"build_station:{city}"
            yield from _payment(cards, NO_CARDS)
        case moves.LayCards(cards):
            yield "lay_cards"
            yield from _words_of_laid_cards(cards)
        case _:
            yield _type_of(move)


def _type_of(move: moves.Move) -> str:
    return str(move.__struct_config__.tag)


def _words_of_laid_cards(cards: Cards) -> Iterator[str]:
    colors = [color for color, count in zip(_PLAIN, _counts(cards), strict=False) if count]
    if len(colors) == 3:
        yield "three_colors"
        yield from (f"color:{color}" for color in colors)
    else:
        yield from _payment(cards, NO_CARDS)


def _payment(cards: Cards, holder_cards: Cards) -> Iterator[str]:
    """Say the color of which most cards are paid, how many of it, how many locomotives, and which payment of
    those alike in this."""
    hand, holder = _counts(cards), _counts(holder_cards)
    both = [mine + shared for mine, shared in zip(hand, holder, strict=True)][:_LOCOMOTIVE]
    most = max(both)
    color = both.index(most) if most else _LOCOMOTIVE
    mine, shared = (hand[color], holder[color]) if most else (0, 0)
    yield f"color:{COLORS[color]}"
    yield f"cards:{min(mine, MOST)}"
    yield f"locomotives:{min(hand[_LOCOMOTIVE], MOST)}"
    yield f"holder_cards:{min(shared, MOST)}"
    yield f"holder_locomotives:{min(holder[_LOCOMOTIVE], MOST)}"
    yield "choice:0"


def _counts(cards: Cards) -> list[int]:
    return [getattr(cards, color) for color in COLORS]
