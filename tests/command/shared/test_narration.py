"""Every event has its sentence, which says what the event says and no more."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from stellwerk.shared.narration import PLAIN, Style, actor_of, describe
from stellwerk_engine.core.state import Part
from stellwerk_engine.core.words import Words
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import PUBLIC
from stellwerk_engine.replays.reader import read_replay
from stellwerk_protocol import decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol.cards import NO_CARDS, Cards
from stellwerk_protocol.replays import MoveMade, SetUp
from stellwerk_protocol.results import Result, TeamResult
from tests.engine.recordings import game_for, mixed, record
from tests.support import every_variant

RED = Cards(red=2)
LOCOMOTIVES = Cards(red=1, locomotive=2)
TICKET = ("boston-miami",)
ASIAN = ("baroda-bangalore",)
OF_CARDS = ("chicago-new_york-1",)
RESULT = Result(
    reason="trains",
    turns=80,
    ranks=(2, 1),
    teams=(TeamResult(0, (0,), 2, 1, 1, (), (), 0, 1), TeamResult(1, (1,), 1, 60, 60, (), (), 0, 20)),
)

SENTENCES: list[tuple[str, ev.Event, str]] = [
    ("usa", ev.PileShuffled(96, RED), "the train cards are shuffled: 96 cards in the pile"),
    ("usa", ev.CardsLaidOpen(LOCOMOTIVES), "laid open: 1 red, 2 locomotives"),
    ("usa", ev.MarketExchanged(LOCOMOTIVES), "the market goes, 1 red, 2 locomotives"),
    ("team_asia", ev.CardsRevealed(RED), "revealed: 2 red"),
    ("usa", ev.CardsDealt(0, 2, RED), "Ann is dealt 2 red"),
    ("usa", ev.CardsDealt(0, 2), "Ann is dealt 2 cards"),
    ("card_game", ev.LocomotiveDealt(1), "Bo gets 1 locomotive"),
    ("usa", ev.TicketPileShuffled(30), "the tickets are shuffled: 30 in the pile"),
    ("usa", ev.TurnStarted(0, 12), "Ann begins turn 12"),
    ("usa", ev.TurnStarted(0, 12, turns_left=1), "Ann begins turn 12, 1 turn left"),
    (
        "usa",
        ev.Asked(decisions.KeepTickets((0, 1), 3, 2)),
        "Ann and Bo: which of 3 tickets to keep, at least 2?",
    ),
    ("usa", ev.Asked(decisions.KeepTickets((1,), 1, 0)), "Bo: which of 1 ticket to keep?"),
    ("team_asia", ev.Asked(decisions.ShareTicket((1,), (2,))), "Bo: which ticket to put on the holder?"),
    ("usa", ev.Asked(decisions.TakeTurn((1,))), "Bo: what to do?"),
    ("usa", ev.Asked(decisions.TakeAction((1,))), "Bo: which action, after the purchase?"),
    (
        "card_game",
        ev.Asked(decisions.SecondCard((0,), "hand", True)),
        "Ann: which second card?",
    ),
    (
        "team_asia",
        ev.Asked(decisions.PlaceCard((0,), True, "locomotive")),
        "Ann: where to put a locomotive?",
    ),
    ("team_asia", ev.Asked(decisions.PlaceCard((0,), False)), "Ann: where to put a card?"),
    (
        "united_kingdom",
        ev.Asked(decisions.ClaimRoute((0,), "right_of_way", 1, True, False)),
        "Ann: which route to claim?",
    ),
    (
        "team_asia",
        ev.Asked(decisions.PayTunnel((0,), "delhi-kathmandu", RED, NO_CARDS, RED, 2)),
        "Ann: 2 cards more for the tunnel Delhi - Kathmandu?",
    ),
    (
        "card_game",
        ev.Asked(decisions.CompleteTickets((0, 1), "pile")),
        "Ann and Bo: which tickets to complete?",
    ),
    ("usa", ev.Passed(0), "Ann passes"),
    ("card_game", ev.Stopped(1), "Bo stops"),
    ("usa", ev.LastRound(2), "the last round begins: 2 turns left"),
    ("usa", ev.TurnsEnded("idle"), "the turns are over: no player made progress"),
    ("usa", ev.GameEnded(RESULT), "the game is over: Bo 60 points, Ann 1 point"),
    ("usa", ev.CardTaken(0, "red", "hand"), "Ann takes red"),
    ("team_asia", ev.CardTaken(0, "locomotive", "holder"), "Ann takes a locomotive onto the holder"),
    ("usa", ev.CardDrawn(0, "hand", "red"), "Ann draws red"),
    ("usa", ev.CardDrawn(0, "hand"), "Ann draws a card"),
    ("team_asia", ev.CardDrawn(0, "hand", "red"), "Ann draws red into the hand"),
    ("team_asia", ev.CardPlaced(0, "holder", False, "red"), "Ann puts red onto the holder"),
    ("team_asia", ev.CardPlaced(0, "hand", False), "Ann puts a card into the hand"),
    (
        "usa",
        ev.RouteClaimed(0, "boston-montreal-1", 2, 1, cards=RED),
        "Ann claims Boston - Montréal with 2 red: 1 point",
    ),
    (
        "team_asia",
        ev.RouteClaimed(0, "delhi-karachi", 3, 4, cards=RED, holder_cards=LOCOMOTIVES),
        "Ann claims Delhi - Karachi with 2 red and 1 red, 2 locomotives of the holder: 4 points",
    ),
    (
        "team_asia",
        ev.TunnelTried(1, "delhi-kathmandu", 1, holder_cards=RED, revealed=LOCOMOTIVES),
        "Bo tries the tunnel Delhi - Kathmandu with 2 red of the holder; "
        "against 1 red, 2 locomotives: 1 more to pay",
    ),
    ("team_asia", ev.TunnelAbandoned(1, "delhi-kathmandu"), "Bo gives the tunnel Delhi - Kathmandu up"),
    ("usa", ev.TicketsOffered(0, 1, TICKET), "Ann is offered Boston - Miami (12)"),
    ("usa", ev.TicketsOffered(0, 3), "Ann is offered 3 tickets"),
    ("usa", ev.TicketsKept(0, 1, 0, TICKET, ()), "Ann keeps Boston - Miami (12)"),
    ("usa", ev.TicketsKept(0, 0, 1, (), TICKET), "Ann keeps no ticket, puts back Boston - Miami (12)"),
    ("usa", ev.TicketsKept(0, 2, 1), "Ann keeps 2 tickets, puts back 1 ticket"),
    ("europe", ev.TicketsRemoved(4), "out of the game: 4 tickets"),
    ("europe", ev.TicketsRemoved(1, 0), "Ann takes 1 ticket out of the game"),
    (
        "europe",
        ev.TicketsRemoved(1, 0, ("cadiz-stockholm",)),
        "Ann takes Cadiz - Stockholm (21) out of the game",
    ),
    ("team_asia", ev.TicketsToShare(0, 1, ASIAN), "Ann is to share one of Baroda - Bangalore (5)"),
    ("team_asia", ev.TicketsShared(0, 1, ASIAN), "Ann puts Baroda - Bangalore (5) on the holder"),
    ("card_game", ev.CardsSent(0, RED), "Ann sends 2 red to the stack"),
    ("card_game", ev.CardsLaid(0, LOCOMOTIVES), "Ann lays 1 red, 2 locomotives in the yard"),
    ("card_game", ev.Raided(1, "red", LOCOMOTIVES), "Bo is raided and loses 1 red, 2 locomotives"),
    ("card_game", ev.StackTakenUp(1, 2, RED), "Bo takes up a stack of 2 red"),
    ("card_game", ev.StackTakenUp(1, 2), "Bo takes up a stack of 2 cards"),
    (
        "card_game",
        ev.TicketsCompleted(0, OF_CARDS, 5),
        "Ann completes Chicago - New York (5): 5 points",
    ),
    ("card_game", ev.TicketsCompleted(0, (), 0), "Ann completes no ticket: 0 points"),
    ("card_game", ev.HalfStarted(2), "half 2 begins"),
    (
        "united_kingdom",
        ev.TechnologyBought(0, "boiler_lagging", LOCOMOTIVES),
        "Ann buys Boiler Lagging for 1 red, 2 locomotives",
    ),
    ("united_kingdom", ev.TechnologyReturned(0, "right_of_way"), "Ann gives Right Of Way back"),
    (
        "united_kingdom",
        ev.TechnologiesWithdrawn(("risky_contracts", "equalising_beam")),
        "no longer for sale: Risky Contracts, Equalising Beam",
    ),
    (
        "europe",
        ev.StationBuilt(0, "munchen", LOCOMOTIVES),
        "Ann builds a station in München with 1 red, 2 locomotives",
    ),
]


@pytest.mark.parametrize(
    ("game_id", "event", "sentence"), SENTENCES, ids=[sentence for _, _, sentence in SENTENCES]
)
def test_an_event_has_its_sentence(game_id: str, event: ev.Event, sentence: str) -> None:
    seats = 4 if game_id == "team_asia" else 2
    assert describe(event, game_for(game_id, seats), Style(("Ann", "Bo"))) == sentence


def test_there_is_a_sentence_for_every_kind_of_event() -> None:
    assert {type(event) for _, event, _ in SENTENCES} == set(get_args(ev.Event))


def test_there_is_a_question_for_every_kind_of_decision() -> None:
    asked = {type(event.decision) for _, event, _ in SENTENCES if isinstance(event, ev.Asked)}
    assert asked == set(get_args(decisions.Decision))


def test_an_event_of_another_game_has_no_sentence() -> None:
    game = game_for("usa", 2)
    with pytest.raises(NotImplementedError, match="no words for Raided in usa"):
        describe(ev.Raided(1, "red", RED), game)
    with pytest.raises(NotImplementedError, match="nobody describes Raided"):
        Part().sentence(ev.Raided(1, "red", RED), Words(game.board))
    with pytest.raises(NotImplementedError, match="nobody describes TakeTurn"):
        Part().question(decisions.TakeTurn((0,)), Words(game.board))


@every_variant
def test_a_redacted_event_names_no_ticket_and_no_card_that_the_public_does_not_know(
    variant: tuple[str, int, tuple[str, ...]],
) -> None:
    game = game_for(*variant)
    words = Words(game.board)
    for line in read_replay(record(game, mixed("narrated"))):
        if not isinstance(line, SetUp | MoveMade):
            continue
        for event in line.events:
            public = redact(event, game, PUBLIC)
            sentence = describe(public, game)
            assert sentence.isprintable()
            actor = actor_of(event)
            assert actor is None or sentence.startswith(f"seat {actor} ")
            if public != event and not isinstance(event, ev.Asked):
                tickets = getattr(event, "tickets", ()) or ()
                assert not any(words.ticket(name) in sentence for name in tickets)
                cards = getattr(event, "cards", msgspec.UNSET)
                assert not isinstance(cards, Cards) or words.cards(cards) not in sentence
                assert sentence != describe(event, game)


def test_names_that_the_board_does_not_have_are_told_as_they_are() -> None:
    game = game_for("usa", 2)
    claimed = ev.RouteClaimed(0, "atlantis-boston", 2, 1, cards=RED)
    assert describe(claimed, game, PLAIN) == "seat 0 claims atlantis-boston with 2 red: 1 point"
    kept = ev.TicketsKept(7, 1, 0, ("atlantis-boston",), ())
    assert describe(kept, game, Style(("Ann",))) == "seat 7 keeps atlantis-boston"


def test_colors_are_painted_each_in_its_own() -> None:
    words = Style(color=True).words(game_for("usa", 2))
    painted = words.cards(Cards(1, 1, 1, 1, 1, 1, 1, 1, 1))
    codes = [part.split("m")[0] for part in painted.split("\x1b[") if not part.startswith("0m")][1:]
    assert len(codes) == len(set(codes)) == 8, "all but white, which is as the terminal has it"
