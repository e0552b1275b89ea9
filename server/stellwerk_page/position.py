"""A position of a match, which draws itself: in a notebook, and for `boards show`.

Law: the drawing shows what its view has and nothing else, so a position that a seat sees can be shown to that
seat. The map lies as in every other picture of the board, and seats have the colors of the match page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from stellwerk_base.texts import counted, shown
from stellwerk_engine.boards.board_file import BoardError, BoardFile, parse_board
from stellwerk_engine.core.state import State
from stellwerk_engine.core.words import title
from stellwerk_engine.knowledge.view import ALL_HANDS, ViewerId, view
from stellwerk_engine.replays.executor import Executor
from stellwerk_engine.replays.reader import ReplayError, read_replay
from stellwerk_engine.replays.verify import game_of
from stellwerk_page.drawing import (
    INK,
    NO_MAP,
    Footer,
    Owner,
    document,
    draw_map,
    owner_badge,
)
from stellwerk_page.layout import LETTER_WIDTH, MARGIN, can_be_drawn
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import COLORS, Seat
from stellwerk_protocol.replays import Header, MoveMade, Reveal
from stellwerk_protocol.views import PlayerView, View

# As in content/paints.mjs, which says why; a test compares them.
DARK: Final = "#14161a"
LIGHT: Final = "#ffffff"
SEATS: Final = (
    ("#2b65eb", LIGHT),
    ("#ce2623", LIGHT),
    ("#72b77a", DARK),
    ("#ecde46", DARK),
    ("#84518d", LIGHT),
    ("#3be2ec", DARK),
)
PARTNERS: Final = (
    ("#285be1", LIGHT),
    ("#60a8ff", DARK),
    ("#d15e31", DARK),
    ("#f5a42d", DARK),
    ("#8f4c97", LIGHT),
    ("#f1bcf9", DARK),
)
CARDS: Final = {
    "purple": ("#8d52a6", LIGHT, "P"),
    "blue": ("#2a6ab2", LIGHT, "B"),
    "orange": ("#ef8b2c", DARK, "O"),
    "white": ("#ffffff", DARK, "W"),
    "green": ("#46994a", DARK, "G"),
    "yellow": ("#f4d03f", DARK, "Y"),
    "black": ("#303238", LIGHT, "K"),
    "red": ("#c8332d", LIGHT, "R"),
    "locomotive": ("#efe9dc", DARK, "L"),
}
SPACES: Final = {
    "gray": "#d0d1d0",
    "purple": "#cfa8de",
    "blue": "#8fbcea",
    "orange": "#ffb870",
    "white": "#ffffff",
    "green": "#93cf97",
    "yellow": "#ffe57a",
    "black": "#5b5e66",
    "red": "#f2958d",
}

ROW: Final = 30.0
INDENT: Final = 28.0
CARDS_AT: Final = 84.0
FACTS_AT: Final = 270.0
CHIP: Final = 34.0
LONGEST_NAME: Final = 24  # characters
FACTS: Final = 15.0  # the height of their letters


@dataclass(frozen=True, slots=True, repr=False)
class Position:
    """A position, as one viewer knows it: a seat, or all hands. A notebook shows it as a picture, which is
    `svg`. `names` has one for each seat."""

    board: BoardFile
    view: View
    names: Sequence[str] = ()

    @classmethod
    def of_ask(cls, start: Mapping[str, Any], ask: Mapping[str, Any]) -> Position:
        """Return what a player is asked about. `start` and `ask` are the messages that it got; a view alone
        does for `ask`. ValueError if there is no view, or it is none."""
        # Any: messages, as clients read them
        names = [str(player.get("name", "")) for player in start["players"]]
        return position_of(msgspec.json.encode(start["board"]), msgspec.json.encode(ask), names)

    @classmethod
    def of_state(cls, state: State, seat: Seat | None = None) -> Position:
        """Return a position of the engine, as a seat knows it, or with all hands."""
        return cls(state.game.board.file, view(state, ALL_HANDS if seat is None else seat))

    @property
    def svg(self) -> str:
        """Return the picture as an SVG document."""
        return _draw(self)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        return self.svg.replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)

    def __repr__(self) -> str:
        return f"<Position of {self.view.game}: {_moment(self)}>"


class _HasView(msgspec.Struct):
    view: msgspec.Raw


def position_of(board: bytes | BoardFile, message: bytes, names: Sequence[str] = ()) -> Position:
    """Read a view, or an ask that has one, as JSON. ValueError if it is neither, or not of this board."""
    try:
        file = board if isinstance(board, BoardFile) else parse_board(board, "board")
    except BoardError as error:
        raise ValueError(str(error)) from None
    try:
        message = bytes(msgspec.json.decode(message, type=_HasView).view)
    except msgspec.ValidationError:
        pass  # a view itself, or what the next error says
    except msgspec.DecodeError as error:
        raise ValueError(f"no JSON: {error}") from None
    try:
        seen = msgspec.json.decode(message, type=View)
    except msgspec.ValidationError as error:
        raise ValueError(f"expected a view, or an ask with a view: {error}") from None
    routes = {route.id for route in file.routes}
    for player in seen.players:
        for route in player.routes or ():
            if route not in routes:
                raise ValueError(
                    f"the board {file.id} has no route {shown(route)}: the view is of another board"
                )
    return Position(file, seen, names)


def positions_of(lines: Iterable[bytes], seat: Seat | None = None) -> Iterator[Position]:
    """Yield the position after the deal of a replay and after each of its moves, as a seat knows it, or with
    all hands. ReplayError if the replay cannot be played again, ValueError if there is no such seat."""
    records = [*read_replay(lines)]
    header = records[0]
    assert isinstance(header, Header)  # the reader lets nothing else pass
    if seat is not None and not 0 <= seat < len(header.seats):
        raise ValueError(f"there is no seat {seat}: the seats of this game are 0 to {len(header.seats) - 1}")
    reveal = next((record for record in records if isinstance(record, Reveal)), None)
    if reveal is None:
        raise ReplayError(
            "unrevealed", len(records), "the seed has not been revealed, so nothing can be dealt"
        )
    game = game_of(header)
    names = ["" if player.name is UNSET else player.name for player in header.seats]
    viewer: ViewerId = ALL_HANDS if seat is None else seat
    executor = Executor(game, bytes.fromhex(reveal.seed))
    yield Position(game.board.file, view(executor.state, viewer), names)
    for number, record in enumerate(records, 1):
        if isinstance(record, MoveMade):
            try:
                executor.make(record.seat, record.move)
            except IllegalMoveError as error:
                raise ReplayError("differs", number, f"move: {shown(str(error), 200)}") from None
            yield Position(game.board.file, view(executor.state, viewer), names)


# -- the drawing -------------------------------------------------------------------------------------


def _draw(position: Position) -> str:
    board, seen = position.board, position.view
    owners = _owners(seen.players)
    drawing = NO_MAP
    if can_be_drawn(board):
        routes = {route: owners[player.seat] for player in seen.players for route in player.routes or ()}
        stations = {city: owners[player.seat] for player in seen.players for city in player.stations or ()}
        drawing = draw_map(board, SPACES, routes, stations)
    rows = _Rows(drawing.width - MARGIN)
    _add_table(rows, seen)
    for player in seen.players:
        _add_player(rows, position, player, owners[player.seat])
    return document(board.title, _moment(position), drawing, Footer(rows.lines, rows.y + 12.0))


def _owners(players: Sequence[PlayerView]) -> dict[Seat, Owner]:
    are_in_teams = len({player.team for player in players}) < len(players)
    paints = PARTNERS if are_in_teams else SEATS
    return {player.seat: Owner(*paints[player.seat % len(paints)], str(player.seat)) for player in players}


def _moment(position: Position) -> str:
    """Say whose turn it is, and who sees this."""
    seen = position.view
    by = "all hands" if seen.seat is UNSET else f"as seat {seen.seat} sees it"
    if seen.pending is UNSET:
        return f"over after {counted(seen.turn, 'turn')}, {by}"
    question = str(type(seen.pending).__struct_config__.tag).replace("_", " ")
    seats = ", ".join(_name(position, seat) for seat in seen.pending.seats)
    return f"turn {seen.turn}, {question}: {seats}; {by}"


def _name(position: Position, seat: Seat) -> str:
    name = position.names[seat] if seat < len(position.names) else ""
    return f"{seat} {shown(name, LONGEST_NAME)}" if name else f"seat {seat}"


@dataclass(slots=True)
class _Rows:
    """Lines below the map, one under the other."""

    width: float
    lines: list[str] = field(default_factory=list[str])
    y: float = 6.0

    def text(self, words: str, x: float = 0.0, weight: int = 400) -> None:
        self.lines.append(
            f'<text x="{x:.0f}" y="{self.y + 16:.0f}" font-size="{FACTS:g}" font-weight="{weight}">'
            f"{escape(words)}</text>"
        )

    def chips(self, cards: Cards, x: float) -> float:
        """Draw a card for each color, with its letter and how many there are. Return where they end."""
        for color in COLORS:
            count: int = getattr(cards, color)
            if count:
                fill, ink, letter = CARDS[color]
                self.lines.append(
                    f'<g transform="translate({x:.0f} {self.y:.0f})"><title>{count} {color}</title>'
                    f'<rect width="{CHIP - 4:g}" height="22" rx="4" fill="{fill}" stroke="{INK}"/>'
                    f'<text x="{(CHIP - 4) / 2:g}" y="16" font-size="13" font-weight="700" '
                    f'text-anchor="middle" fill="{ink}">{count}{letter}</text></g>'
                )
                x += CHIP
        return x

    def paragraph(self, words: str) -> None:
        """Write a text in as many rows as it needs."""
        for line in wrap(words, max(20, int((self.width - INDENT) / LETTER_WIDTH))):
            self.text(line, INDENT)
            self.y += 20.0
        self.y += 8.0


def _add_table(rows: _Rows, seen: View) -> None:
    """Add what lies on the table."""
    rows.text("market", weight=700)
    rows.chips(seen.market, CARDS_AT)
    facts = f"pile {seen.pile}, discards {_number(seen.discards)}, tickets left {seen.ticket_pile}"
    rows.text(facts, FACTS_AT)
    rows.y += ROW + 4.0
    for team in seen.teams or ():
        rows.text("holder", weight=700)
        cards = team.known_holder if team.holder is UNSET else team.holder
        seats = " and ".join(str(player.seat) for player in seen.players if player.team == team.team)
        rows.chips(cards, CARDS_AT)
        rows.text(f"of seats {seats}: {counted(team.holder_count, 'card')}", FACTS_AT)
        rows.y += ROW


def _add_player(rows: _Rows, position: Position, player: PlayerView, owner: Owner) -> None:
    """Add a seat: its figures, its cards as far as they are known, and its tickets."""
    facts = [
        counted(player.points, "point"),
        *_counted(player.trains, "train"),
        counted(player.hand_count, "card"),
        counted(player.ticket_count, "ticket"),
        *_counted(player.stations_left, "station left", "stations left"),
        *_counted(player.stack_count, "card on track", "cards on track"),
    ]
    rows.lines.append(f'<g transform="translate(9 {rows.y + 11:.0f})">{owner_badge(owner)}</g>')
    rows.text(_name(position, player.seat), INDENT, 700)
    rows.text(", ".join(facts), FACTS_AT)
    rows.y += ROW
    cards = player.known_cards if player.hand is UNSET else player.hand
    if _number(cards):
        rows.text("known" if player.hand is UNSET else "hand", INDENT)
        rows.chips(cards, CARDS_AT)
        rows.y += ROW
    if player.yard:
        rows.text("yard", INDENT)
        x = CARDS_AT
        for stack in player.yard:
            x = 8.0 + rows.chips(Cards(**{stack.color: stack.cards, "locomotive": stack.locomotives}), x)
        rows.y += ROW
    for what, tickets in (("offered", player.offered), ("tickets", player.tickets)):
        if tickets:
            rows.paragraph(f"{what}: {', '.join(_tickets(position.board, tickets))}")
    if player.technologies:
        rows.paragraph(f"technologies: {', '.join(map(title, player.technologies))}")


def _number(cards: Cards) -> int:
    return sum(msgspec.structs.astuple(cards))


def _counted(count: int | UnsetType, one: str, many: str = "") -> Iterator[str]:
    if count is not UNSET:
        yield counted(count, one, many)


def _tickets(board: BoardFile, names: Iterable[str]) -> Iterator[str]:
    cities = {city.id: city.name for city in board.cities}
    tickets = {ticket.id: ticket for ticket in board.tickets}
    for name in names:
        ticket = tickets.get(name)
        if ticket is None:
            yield shown(name)
        else:
            ends = (cities.get(end) or title(end) for end in (ticket.a, ticket.b))
            yield f"{' - '.join(ends)} ({ticket.points})"
