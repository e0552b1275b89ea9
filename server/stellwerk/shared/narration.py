"""Events in words, for people who watch: `alice claims Chicago - Toronto with 4 orange: 7 points`.

Law: the words contain what the event says and no more, so an event that was redacted for a seat can be shown
to that seat. The sentence of an event is beside the part that the event belongs to. The sentences for events
of every game are here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, assert_never

from msgspec import UNSET, UnsetType

from stellwerk_base.texts import counted, shown
from stellwerk_engine.core.state import Game
from stellwerk_engine.core.words import Words
from stellwerk_protocol import decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import Cards
from stellwerk_protocol.names import Color, EndReason, Seat
from stellwerk_protocol.results import TeamResult

END_REASONS: Final[dict[EndReason, str]] = {
    "trains": "a player ran low on trains",
    "pile": "the pile ran out",
    "all_passed": "everybody passed",
    "idle": "no player made progress",
}

_SGR: Final[dict[Color, str]] = {
    "purple": "35",
    "blue": "94",  # plain blue cannot be read on black
    "orange": "38;5;208",
    "white": "",  # white cannot be read on white
    "green": "32",
    "yellow": "33",
    "black": "90",
    "red": "31",
    "locomotive": "1",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How to write: with which names of the seats, and whether the terminal shows colors."""

    names: tuple[str, ...] = ()
    color: bool = False

    def name(self, seat: Seat) -> str:
        return shown(self.names[seat]) if seat < len(self.names) else f"seat {seat}"

    def paint(self, text: str, sgr: str) -> str:
        return f"\x1b[{sgr}m{text}\x1b[0m" if self.color and sgr else text

    def words(self, game: Game) -> Words:
        """Return the words for what is on the game's board."""
        return Words(game.board, lambda text, color: self.paint(text, _SGR[color]))


PLAIN: Final = Style()


def describe(event: ev.Event, game: Game, style: Style = PLAIN) -> str:
    """Write one event as a sentence without its full stop."""
    actor = actor_of(event)
    sentence = deed(event, game, style)
    return sentence if actor is None else f"{style.name(actor)} {sentence}"


def actor_of(event: ev.Event) -> Seat | None:
    """Return who acts, or whom the event concerns. None if it concerns no seat."""
    seat: Seat | UnsetType = getattr(event, "seat", UNSET)
    return None if seat is UNSET else seat


def is_of_game(event: ev.Event, game: Game) -> bool:
    """Return whether the game has such events; a file can be a sound replay with others."""
    return isinstance(event, ev.EventOfEveryGame) or type(event) in game.owners


def deed(event: ev.Event, game: Game, style: Style = PLAIN) -> str:
    """Describe an event without its actor: `claims Chicago - Toronto with 4 orange: 7 points`."""
    words = style.words(game)
    owner = game.owners.get(type(event))
    if owner is not None:
        return owner.sentence(event, words)
    if not isinstance(event, ev.EventOfEveryGame):
        raise NotImplementedError(f"no words for {type(event).__name__} in {game.id}")
    match event:
        # the piles
        case ev.PileShuffled(count):
            return f"the train cards are shuffled: {counted(count, 'card')} in the pile"
        case ev.CardsLaidOpen(cards):
            return f"laid open: {words.cards(cards)}"
        case ev.MarketExchanged(cards):
            return f"the market goes, {words.cards(cards)}"
        case ev.CardsRevealed(cards):
            return f"revealed: {words.cards(cards)}"
        case ev.CardsDealt(_, count, cards):
            return f"is dealt {words.known_cards(count, cards)}"
        case ev.LocomotiveDealt():
            return f"gets {words.cards(Cards(locomotive=1))}"
        case ev.TicketPileShuffled(count):
            return f"the tickets are shuffled: {count} in the pile"
        # turns
        case ev.TurnStarted(_, turn, _, turns_left):
            left = "" if turns_left is UNSET else f", {counted(turns_left, 'turn')} left"
            return f"begins turn {turn}{left}"
        case ev.Asked(decision):
            asked = " and ".join(style.name(seat) for seat in decision.seats)
            return f"{asked}: {_describe_question(decision, game, words)}"
        case ev.Passed():
            return "passes"
        case ev.Stopped():
            return "stops"
        case ev.LastRound(turns_left):
            return f"the last round begins: {counted(turns_left, 'turn')} left"
        case ev.TurnsEnded(reason):
            return f"the turns are over: {END_REASONS[reason]}"
        case ev.GameEnded(result):
            teams = sorted(result.teams, key=lambda team: team.rank)
            ranking = [f"{team_in_words(team, style)} {counted(team.points, 'point')}" for team in teams]
            return f"the game is over: {', '.join(ranking)}"
        case _:
            assert_never(event)


def _describe_question(decision: decisions.Decision, game: Game, words: Words) -> str:
    if not isinstance(decision, decisions.DecisionOfEveryGame):
        return game.owners[type(decision)].question(decision, words)
    match decision:
        case decisions.TakeTurn():
            return "what to do?"
        case decisions.TakeAction():
            return "which action, after the purchase?"
        case _:
            assert_never(decision)


def team_in_words(team: TeamResult, style: Style) -> str:
    return " + ".join(style.name(seat) for seat in team.seats)
