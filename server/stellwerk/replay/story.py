"""A replay as a story for people: who did what in each turn, and how the points came about.

Law: what a viewer reads is made from the events as the viewer may see them. The story of a replay goes as far
as the replay can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import UNSET, UnsetType

from stellwerk.shared.narration import Style, actor_of, deed, is_of_game, team_in_words
from stellwerk_base.texts import shown
from stellwerk_engine.core.state import Game
from stellwerk_engine.core.words import Words
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, ViewerId
from stellwerk_engine.parts.draw_cards import destination
from stellwerk_engine.replays.reader import ReplayError
from stellwerk_engine.replays.verify import game_of
from stellwerk_protocol import events as ev
from stellwerk_protocol.names import Color, RouteName, Seat
from stellwerk_protocol.replays import End, Header, Line, MoveMade, Reveal, SetUp
from stellwerk_protocol.results import Result, TeamResult

BOLD: Final = "1"
SET_UP: Final = "Set-up"
POINTS: Final = "points"


@dataclass(frozen=True, slots=True)
class StoryLine:
    """A line of the story, however long, and how far its continuation is indented where it must be broken."""

    text: str = ""
    hang: int = 4


class NoSuchSeatError(Exception):
    """The viewer asked for does not sit in this game."""


def story(records: Iterable[Line], seat: Seat | None = None, color: bool = False) -> Iterator[StoryLine]:
    """Yield the lines of the story: of all that happened, or of what one seat saw of it.

    The ReplayError, if there is one, comes after the lines that could be read.
    """
    numbered = enumerate(records, 1)
    _, header = next(numbered)
    assert isinstance(header, Header)  # the reader lets nothing else pass
    if seat is not None and not 0 <= seat < len(header.seats):
        last = len(header.seats) - 1
        raise NoSuchSeatError(f"there is no seat {seat}: the seats of this game are 0 to {last}")
    viewer = ALL_HANDS if seat is None else seat
    style = Style(names_of(header), color)
    yield from _tell_heading(header, viewer, style)
    story = _Story(game_of(header), style, viewer)
    try:
        for number, record in numbered:
            match record:
                case Reveal(seed):
                    if viewer == ALL_HANDS:
                        yield _row("Seed", seed)
                case SetUp(events):
                    yield from story.go_on(number, events)
                case MoveMade(_, _, events):
                    story.remark(number, record)
                    yield from story.go_on(number, events)
                case End(result):
                    yield from story.close_chapter()
                    yield from _tell_ending(result, story.game, style)
                case Header():
                    pass  # comes once, and is in the story already
    except ReplayError:
        yield from story.close_chapter()
        raise


def names_of(header: Header) -> tuple[str, ...]:
    """Return a name for each seat, with the seat's number where one bot plays at several."""
    names = [
        f"seat {seat}" if player.name is UNSET else player.name for seat, player in enumerate(header.seats)
    ]
    return tuple(f"{name}/{seat}" if names.count(name) > 1 else name for seat, name in enumerate(names))


# -- the heading -------------------------------------------------------------------------------------


def _tell_heading(header: Header, viewer: ViewerId, style: Style) -> Iterator[StoryLine]:
    rules = RULE_SETS.get(header.game)
    version = f"version {header.rules_version}"
    if rules is not None and rules.rules_version != header.rules_version:
        version += f" (this program plays version {rules.rules_version})"
    held = "" if header.board.content is UNSET else ", in this file"
    game = shown(header.game) if rules is None else f"{rules.id}: {rules.title}"
    yield StoryLine(style.paint(game, BOLD))
    yield _row("Rules", version)
    if header.options:
        yield _row("Options", ", ".join(map(shown, header.options)))
    yield _row("Board", f"{shown(header.board.id)} {header.board.digest[:16]}...{held}")
    names = [style.name(seat) for seat in range(len(header.seats))]
    numbered = [
        name if player.name is UNSET else f"{seat} {name}"
        for seat, (name, player) in enumerate(zip(names, header.seats, strict=True))
    ]
    yield _row("Players", ", ".join(numbered))
    if header.match is not UNSET:
        yield _row("Match", shown(header.match))
    if viewer != ALL_HANDS:
        yield _row("Seen by", style.name(viewer))


def _row(label: str, text: str) -> StoryLine:
    return StoryLine(f"  {label:<9}{text}", 11)


# -- the turns ---------------------------------------------------------------------------------------

_LEFT_OUT: Final = (
    ev.Asked,  # the answer follows
    ev.CardsRevealed,  # part of the tunnel's sentence
    ev.TicketsOffered,  # what is kept and what is put back follows
    ev.TicketsToShare,  # the answer follows
    ev.GameEnded,  # the end follows
)


@dataclass(slots=True)
class _Deed:
    text: str
    mark: str  # that it was not the player's own move


@dataclass(slots=True)
class _Chapter:
    """The set-up, a turn, or what comes between turns. In a turn, the player's own deeds make one line."""

    title: str
    seat: Seat | None = None
    deeds: list[_Deed] = field(default_factory=list[_Deed])
    facts: list[str] = field(default_factory=list[str])
    card_without_place: Color | UnsetType | None = None  # of the last deed; None: it has no such card
    tunnel: RouteName | None = None  # of the last deed


class _Story:
    def __init__(self, game: Game, style: Style, viewer: ViewerId) -> None:
        self.game = game
        self.style = style
        self._viewer = viewer
        self._chapter = _Chapter(SET_UP)
        self._points = [0] * game.seat_count
        self._name_width = max(len(style.name(seat)) for seat in range(game.seat_count))
        self._by_fallback: dict[Seat, str] = {}

    def remark(self, number: int, record: MoveMade) -> None:
        """Return what to say about a move beside its events, which may come later."""
        self._expect_seat(number, record.seat)
        if record.by is not UNSET:
            reason = "" if record.reason is UNSET else f", {shown(record.reason)}"
            self._by_fallback[record.seat] = f" (fallback{reason})"
        if record.note is not UNSET and self._viewer in (record.seat, ALL_HANDS):
            self._chapter.facts.append(f'{self.style.name(record.seat)} notes "{shown(record.note, 200)}"')

    def go_on(self, number: int, events: Sequence[ev.Event]) -> Iterator[StoryLine]:
        for event in events:
            seat = actor_of(event)
            if seat is not None:
                self._expect_seat(number, seat)
            if not is_of_game(event, self.game):
                tag = type(event).__struct_config__.tag
                raise ReplayError(
                    "differs", number, f"{tag}, an event that the game {self.game.id} does not have"
                )
            match event:
                case ev.TurnStarted(seat, turn):
                    yield from self.close_chapter()
                    self._chapter = _Chapter(str(turn), seat)
                case ev.TurnsEnded():
                    yield from self.close_chapter()
                    phrase = deed(event, self.game, self.style)
                    self._chapter = _Chapter(phrase[0].upper() + phrase[1:])
                case _ if not isinstance(event, _LEFT_OUT):
                    self._add_event(event)
                case _:
                    pass
            if isinstance(event, ev.RouteClaimed | ev.TicketsCompleted):
                self._points[event.seat] += event.points

    def close_chapter(self) -> Iterator[StoryLine]:
        chapter, style = self._chapter, self.style
        if chapter.seat is None:
            yield StoryLine()
            yield StoryLine(style.paint(chapter.title, BOLD))
            yield from (StoryLine(f"  {fact}") for fact in chapter.facts)
            if chapter.title == SET_UP:
                yield StoryLine()
                yield StoryLine(style.paint(f"turn  {'player':<{self._name_width}}  points", BOLD))
        else:
            name = f"{style.name(chapter.seat):<{self._name_width}}"
            team = self.game.seats_of_team[self.game.team_of[chapter.seat]]
            points = sum(self._points[partner] for partner in team)
            lead = f"{chapter.title:>4}  {name}  {points:>6}  "
            yield StoryLine(lead + _join_deeds(chapter.deeds), len(lead) + 2)
            yield from (StoryLine(" " * len(lead) + fact, len(lead) + 2) for fact in chapter.facts)

    def _add_event(self, event: ev.Event) -> None:
        """Put the player's own actions into the line of the turn, and everything else below it."""
        chapter, seat = self._chapter, actor_of(event)
        event = redact(event, self.game, self._viewer)
        phrase = deed(event, self.game, self.style)
        mark = "" if seat is None else self._by_fallback.pop(seat, "")
        if chapter.seat is not None and seat == chapter.seat:
            self._add_deed(chapter, event, phrase, mark)
        elif chapter.seat is None or not isinstance(event, ev.CardsLaidOpen):  # which comes in every turn
            chapter.facts.append((phrase if seat is None else f"{self.style.name(seat)} {phrase}") + mark)

    def _add_deed(self, chapter: _Chapter, event: ev.Event, phrase: str, mark: str) -> None:
        """Describe an action in few words: where a known card goes, and what became of the tunnel."""
        match event:
            case ev.CardPlaced(_, place, _, card) if card == chapter.card_without_place:
                chapter.deeds[-1].text += destination(place)
                chapter.deeds[-1].mark = mark
            case ev.RouteClaimed(_, route) | ev.TunnelAbandoned(_, route) if route == chapter.tunnel:
                ends = self.style.words(self.game).route(route)
                phrase = phrase.replace(f"the tunnel {ends}", "it").replace(ends, "it")
                chapter.deeds.append(_Deed(phrase, mark))
            case _:
                chapter.deeds.append(_Deed(phrase, mark))
        chapter.card_without_place = chapter.tunnel = None
        match event:
            case ev.CardDrawn(place=UnsetType()) | ev.CardTaken(place=UnsetType()):
                chapter.card_without_place = event.card
            case ev.TunnelTried():
                chapter.tunnel = event.route
            case _:
                pass

    def _expect_seat(self, number: int, seat: Seat) -> None:
        """Refuse a seat that the game does not have, which a well-formed line can still name."""
        if seat >= self.game.seat_count:
            raise ReplayError("differs", number, f"seat {seat}, in a game of {self.game.seat_count} players")


def _join_deeds(deeds: Sequence[_Deed]) -> str:
    """Join two actions: `draws red, blue (fallback)`. A verb or a mark that both share comes once."""
    phrases: list[str] = []
    last_verb = ""
    for number, each in enumerate(deeds):
        verb, _, rest = each.text.partition(" ")
        is_last_of_mark = number + 1 == len(deeds) or deeds[number + 1].mark != each.mark
        text = rest if verb == last_verb in ("draws", "takes") else each.text
        phrases.append(text + each.mark if is_last_of_mark else text)
        last_verb = verb
    return ", ".join(phrases)


# -- the end -----------------------------------------------------------------------------------------


def _tell_ending(result: Result, game: Game, style: Style) -> Iterator[StoryLine]:
    words = style.words(game)
    teams = sorted(result.teams, key=lambda team: team.rank)
    yield StoryLine()
    yield StoryLine(style.paint(f"The end, after {result.turns} turns", BOLD))
    yield from _tabulate_scores(teams, game, style)
    for team in teams:
        if team.tickets:
            yield StoryLine()
            yield StoryLine(f"  Tickets of {team_in_words(team, style)}")
        for ticket in sorted(team.tickets, key=lambda ticket: -ticket.points):
            mark = " " if ticket.completed else "x"
            yield StoryLine(f"  {ticket.points:>+5} {mark} {words.ticket(ticket.ticket)}")


def _tabulate_scores(teams: Sequence[TeamResult], game: Game, style: Style) -> Iterator[StoryLine]:
    """Write a column for each team, with the parts of its score and their sum."""
    has_map = game.board.mask_bytes > 0
    rows = [("", [team_in_words(team, style) for team in teams])]
    if has_map:
        rows.append(("routes", [str(team.route_points) for team in teams]))
    rows.append(("tickets", [str(sum(ticket.points for ticket in team.tickets)) for team in teams]))
    for name in dict.fromkeys(bonus.bonus for team in teams for bonus in team.bonuses):
        points = [sum(bonus.points for bonus in team.bonuses if bonus.bonus == name) for team in teams]
        kind, _, city = name.partition(":")
        bonus = Words(game.board).place(city) if city else shown(kind.replace("_", " "))
        rows.append((f"bonus {bonus}", [str(number) if number else "." for number in points]))
    rows += [
        (POINTS, [str(team.points) for team in teams]),
        ("rank", [str(team.rank) for team in teams]),
        ("tickets completed", [f"{team.completed_tickets} of {len(team.tickets)}" for team in teams]),
    ]
    if has_map:
        rows.append(("spaces of the longest path", [str(team.longest_path) for team in teams]))
    label_width = max(len(label) for label, _ in rows)
    widths = [max(len(cells[column]) for _, cells in rows) for column in range(len(teams))]
    for label, cells in rows:
        aligned = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        line = f"  {label:<{label_width}}  {aligned}"
        yield StoryLine(style.paint(line, BOLD) if label in ("", POINTS) else line)
