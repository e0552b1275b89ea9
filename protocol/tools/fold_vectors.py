"""The vectors of `protocol/conformance/vectors/folds`: a view, the events of one move, and the view after
them.

They cover what a client that keeps its own view gets wrong most easily. A vector belongs to a case, and a
case to the file that a requirement names. A case has a sign, which detects the moves in the matches of
`vectors/rules` that show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import UNSET

from stellwerk_engine.core.state import Game
from stellwerk_engine.knowledge.fold import blank_view
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, ViewerId, view, viewer_kind
from stellwerk_engine.parts.technologies.buy_technology import for_sale
from stellwerk_protocol import canonical
from tools.game_vectors import MATCHES, Match, play

Json = dict[str, Any]  # Any: a JSON value

EACH: Final = 2  # vectors of a case


@dataclass(frozen=True)
class Fold:
    """One viewer's view before and after a move, and the events that it gets; all as JSON."""

    before: Json
    events: list[Json]
    after: Json

    def all(self, *kinds: str) -> Iterator[Json]:
        return (event for event in self.events if event["type"] in kinds)

    def has(self, *kinds: str) -> bool:
        return any(self.all(*kinds))

    def players(self) -> Iterator[tuple[Json, Json]]:
        """Yield each seat's player before and after."""
        return zip(self.before["players"], self.after["players"], strict=True)

    def teams(self) -> Iterator[tuple[Json, Json]]:
        return zip(self.before.get("teams", []), self.after.get("teams", []), strict=True)

    def seat(self, event: Json) -> tuple[Json, Json]:
        """Return the player that an event is about, before and after."""
        return self.before["players"][event["seat"]], self.after["players"][event["seat"]]

    def team(self, event: Json) -> tuple[Json, Json]:
        number = self.after["players"][event["seat"]]["team"]
        return self.before["teams"][number], self.after["teams"][number]

    def counts_an_idle_turn(self) -> bool:
        return bool(self.after["progress_turn"] == self.before["progress_turn"])


Sign = Callable[[Fold], bool]


@dataclass(frozen=True)
class Case:
    file: str
    name: str
    about: str
    sign: Sign


# -- signs -------------------------------------------------------------------------------------------


def _merged(field: str) -> Sign:
    """Test whether new names come between the old ones, and not after them."""
    return lambda fold: any(
        _is_merged(one.get(field), other.get(field)) for one, other in (*fold.players(), *fold.teams())
    )


def _is_merged(old: list[str] | None, new: list[str] | None) -> bool:
    return bool(old and new and set(old) < set(new) and new[: len(old)] != old)


def _reordered(kind: str, field: str, into: str) -> Sign:
    """Test whether an event names things in another order than the view then has them."""

    def sign(fold: Fold) -> bool:
        for event in fold.all(kind):
            after = fold.seat(event)[1]
            names = [name for name in after.get(into, []) if name in event.get(field, [])]
            if len(names) > 1 and names != event[field]:
                return True
        return False

    return sign


def _offered_again(fold: Fold) -> bool:
    return any(
        set(fold.seat(event)[0]["returned"]) & set(event["tickets"])
        for event in fold.all("tickets_offered")
        if "tickets" in event
    )


def _yard_is_sorted_in(fold: Fold) -> bool:
    return any(
        _is_merged([each["color"] for each in before["yard"]], [each["color"] for each in after["yard"]])
        for before, after in (fold.seat(event) for event in fold.all("cards_laid"))
    )


def _several_bonuses(fold: Fold) -> bool:
    return any(len(team["bonuses"]) > 1 for team in fold.after.get("result", {}).get("teams", []))


def _double_heading_without_bonus(fold: Fold) -> bool:
    teams = fold.after.get("result", {}).get("teams", [])
    return any(
        "double_heading" in fold.after["players"][team["seats"][0]].get("technologies", [])
        and not any(bonus["bonus"] == "double_heading" for bonus in team["bonuses"])
        for team in teams
    )


def _pays(fold: Fold) -> Iterator[tuple[Json, Json, Json, str]]:
    """Yield the known cards before and after, the cards paid, and their place."""
    for event in fold.all("route_claimed", "technology_bought", "cards_laid"):
        before, after = fold.seat(event)
        if event.get("cards"):
            yield before["known_cards"], after["known_cards"], event["cards"], "hand"
        if event.get("holder_cards"):
            one, other = fold.team(event)
            yield one["known_holder"], other["known_holder"], event["holder_cards"], "holder"


def _pays_more_than_known(place: str) -> Sign:
    return lambda fold: any(
        where == place and any(0 < known.get(color, 0) < number for color, number in cards.items())
        for known, _, cards, where in _pays(fold)
    )


def _pays_less_than_known(place: str) -> Sign:
    return lambda fold: any(
        where == place and any(known.get(color, 0) > number for color, number in cards.items())
        for known, _, cards, where in _pays(fold)
    )


def _shown(place: str, known_before: bool) -> Sign:
    """Test whether an abandoned tunnel made more cards known, where some of that color were known already, or
    none."""
    known, laid = ("known_cards", "cards") if place == "hand" else ("known_holder", "holder_cards")

    def sign(fold: Fold) -> bool:
        for event in fold.all("tunnel_abandoned"):
            before, _ = fold.seat(event) if place == "hand" else fold.team(event)
            for color, number in event.get(laid, {}).items():
                had = before[known].get(color, 0)
                if had < number and bool(had) == known_before:
                    return True
        return False

    return sign


def _event(kind: str, **fields: object) -> Sign:
    return lambda fold: any(
        all(event.get(name) == value for name, value in fields.items()) for event in fold.all(kind)
    )


def _unplaced(kind: str, *, seen: bool) -> Sign:
    def sign(fold: Fold) -> bool:
        return any("place" not in event and ("card" in event) == seen for event in fold.all(kind))

    return sign


def _placed(place: str, *, is_open: bool, seen: bool) -> Sign:
    def sign(fold: Fold) -> bool:
        return any(
            event["place"] == place and event["open"] == is_open and ("card" in event) == seen
            for event in fold.all("card_placed")
        )

    return sign


def _goes(field: str) -> Sign:
    """Test whether a field of the view or of a seat is present before and absent after."""
    return lambda fold: any(
        field in one and field not in other
        for one, other in ((fold.before, fold.after), *fold.players(), *fold.teams())
    )


def _comes(field: str) -> Sign:
    return lambda fold: any(
        field not in one and field in other
        for one, other in ((fold.before, fold.after), *fold.players(), *fold.teams())
    )


def _empties(field: str) -> Sign:
    """Test whether a list or set becomes empty, and stays present."""
    return lambda fold: any(
        one.get(field) and field in other and not other[field]
        for one, other in ((fold.before, fold.after), *fold.players(), *fold.teams())
    )


def _sells_the_last(fold: Fold) -> bool:
    return fold.has("technology_bought") and len(fold.after["supply"]) < len(fold.before["supply"])


def _ends_after_one_card(fold: Fold) -> bool:
    first = fold.before.get("pending", {}).get("type") in ("take_turn", "take_action")
    drawn = [
        *fold.all("card_drawn"),
        *(event for event in fold.all("card_taken") if event["card"] != "locomotive"),
    ]
    asked = {event["decision"]["type"] for event in fold.all("asked")}
    return first and len(drawn) == 1 and not asked & {"place_card", "second_card"}


def _runs_on_over_the_halves(fold: Fold) -> bool:
    """Test whether the first half ended with a pass."""
    return fold.has("half_started") and fold.before["passes"] > 0


def _removed(*, seen: bool) -> Sign:
    return lambda fold: any(("tickets" in event) == seen for event in fold.all("tickets_removed"))


def _uses_a_route(fold: Fold) -> bool:
    teams = fold.after.get("result", {}).get("teams", [])
    return len({"route" in station for team in teams for station in team.get("stations", [])}) == 2


CASES: Final = (
    Case(
        "order",
        "tickets",
        "tickets that are kept later stand where the board file has them",
        _merged("tickets"),
    ),
    Case("order", "returned", "tickets that go back later stand so, too", _merged("returned")),
    Case("order", "returned-again", "a ticket put back is offered to the same seat again", _offered_again),
    Case("order", "offered", "the tickets offered stand as they were dealt", _comes("offered")),
    Case(
        "order",
        "to-share",
        "one event for the tickets kept, in the order of dealing, one for those to share",
        _event("tickets_to_share"),
    ),
    Case(
        "order", "shared_tickets", "a ticket goes on the holder, among the others", _merged("shared_tickets")
    ),
    Case(
        "order",
        "completed",
        "the event has them by their ids, the view by the board file",
        _reordered("tickets_completed", "tickets", "completed"),
    ),
    Case(
        "order",
        "completed-later",
        "tickets of the second half, among those of the first",
        _merged("completed"),
    ),
    Case("order", "routes", "the newest route is the last", _event("route_claimed")),
    Case("order", "technologies", "a technology bought later, and listed before", _merged("technologies")),
    Case("order", "yard", "the colors of a yard stand in their own order", _yard_is_sorted_in),
    Case("order", "bonuses", "several bonuses of a team", _several_bonuses),
    Case("known_cards", "taken", "a card taken from the market", _event("card_taken", place="hand")),
    Case(
        "known_cards",
        "taken-for-the-holder",
        "a card from the market that goes on the holder",
        _event("card_taken", place="holder"),
    ),
    Case(
        "known_cards",
        "pays-more",
        "more cards of a color are paid than were known",
        _pays_more_than_known("hand"),
    ),
    Case(
        "known_cards",
        "pays-less",
        "fewer cards of a color are paid than were known",
        _pays_less_than_known("hand"),
    ),
    Case(
        "known_cards",
        "holder-pays-more",
        "more cards of a color are paid from the holder than were known there",
        _pays_more_than_known("holder"),
    ),
    Case(
        "known_cards",
        "holder-pays-less",
        "fewer cards of a color are paid from the holder than were known there",
        _pays_less_than_known("holder"),
    ),
    Case(
        "known_cards",
        "tunnel-given-up",
        "the cards laid have been seen in the hand; none of the color was known",
        _shown("hand", known_before=False),
    ),
    Case(
        "known_cards",
        "tunnel-given-up-known",
        "the cards laid have been seen in the hand; some of the color were known: the larger number counts",
        _shown("hand", known_before=True),
    ),
    Case(
        "known_cards",
        "tunnel-given-up-holder",
        "the cards laid have been seen on the holder; none of the color was known",
        _shown("holder", known_before=False),
    ),
    Case(
        "known_cards",
        "tunnel-given-up-holder-known",
        "the cards laid have been seen on the holder; some of the color were known: the larger number counts",
        _shown("holder", known_before=True),
    ),
    Case(
        "places",
        "drawn",
        "a first card without a place counts nowhere yet",
        _unplaced("card_drawn", seen=True),
    ),
    Case("places", "drawn-by-another", "nor does one that is hidden", _unplaced("card_drawn", seen=False)),
    Case("places", "taken", "nor does one from the market", _unplaced("card_taken", seen=True)),
    Case("places", "to-the-hand", "it goes to the hand", _placed("hand", is_open=False, seen=True)),
    Case("places", "to-a-hand", "it goes to another's hand", _placed("hand", is_open=False, seen=False)),
    Case(
        "places", "open-to-the-hand", "an open one goes to a hand", _placed("hand", is_open=True, seen=True)
    ),
    Case("places", "to-the-holder", "it goes to the holder", _placed("holder", is_open=False, seen=True)),
    Case(
        "places", "to-a-holder", "it goes to another's holder", _placed("holder", is_open=False, seen=False)
    ),
    Case(
        "places",
        "open-to-the-holder",
        "an open one goes to a holder",
        _placed("holder", is_open=True, seen=True),
    ),
    Case("absent", "last-round", "`turns_left` comes", _comes("turns_left")),
    Case("absent", "no-last-round", "`turns_left` goes, with the second half", _goes("turns_left")),
    Case("absent", "nothing-offered", "`offered` goes", _goes("offered")),
    Case("absent", "result", "`result` comes, `pending` goes", _comes("result")),
    Case("absent", "stack", "`stack` comes, at the scoring", _comes("stack")),
    Case("absent", "no-stack", "`stack` goes, with the second half", _goes("stack")),
    Case("absent", "sold-out", "the last one leaves the supply", _sells_the_last),
    Case("absent", "empty-hand", "an empty hand is `{}`", _empties("hand")),
    Case("absent", "empty-holder", "so is an empty holder", _empties("holder")),
    Case("absent", "nothing-known", "no card of a hand is known any more", _empties("known_cards")),
    Case("absent", "no-ticket", "no ticket is left in the hand", _empties("tickets")),
    Case("absent", "no-discards", "the discards have become the pile", _empties("discards")),
    Case("absent", "empty-yard", "the last cards leave a yard", _empties("yard")),
    Case("technologies", "bought", "out of the supply, to the seat", _event("technology_bought")),
    Case("technologies", "returned", "back to the supply", _event("technology_returned")),
    Case("technologies", "withdrawn", "out of the supply for good", _event("technologies_withdrawn")),
    Case("counters", "passed", "a turn without an action", _event("passed")),
    Case(
        "counters",
        "all-passed",
        "`turns_ended` has the last count of passes",
        _event("turns_ended", reason="all_passed"),
    ),
    Case(
        "counters",
        "no-ticket-kept",
        "a turn in which no ticket was kept is idle",
        lambda fold: fold.has("tickets_kept") and fold.counts_an_idle_turn() and fold.before["turn"] > 0,
    ),
    Case(
        "counters",
        "tunnel-given-up",
        "a turn in which a tunnel was given up is idle",
        lambda fold: fold.has("tunnel_abandoned") and fold.counts_an_idle_turn(),
    ),
    Case("counters", "idle", "the game ends for idle turns", _event("turns_ended", reason="idle")),
    Case("counters", "halves", "the counters run on into the second half", _runs_on_over_the_halves),
    Case(
        "counters",
        "one-card",
        "a turn ends after one card, since there is no second one (USA-08)",
        lambda fold: fold.before["game"] != "card_game" and _ends_after_one_card(fold),
    ),
    Case(
        "counters",
        "one-card-in-the-card-game",
        "a turn ends after one card, since there is no second one (CARD-07)",
        lambda fold: fold.before["game"] == "card_game" and _ends_after_one_card(fold),
    ),
    Case(
        "result",
        "double_heading",
        "an owner of Double Heading without a completed ticket",
        _double_heading_without_bonus,
    ),
    Case("stations", "built", "a station, and the cards laid for it", _event("station_built")),
    Case("stations", "removed", "tickets that the seat did not keep leave the game", _removed(seen=True)),
    Case("stations", "removed-unseen", "another seat's leave it unseen", _removed(seen=False)),
    Case("stations", "result", "a station that uses a route, and one that uses none", _uses_a_route),
)


# -- files -------------------------------------------------------------------------------------------


def json_view(match: Match, after: int, viewer: ViewerId) -> Json:
    """Return the view of the viewer after this number of moves."""
    shown: Json = as_json(view(match.states[after], viewer))
    return shown


def as_json(value: object) -> Any:
    """Return a record as a reader of its JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(value))


def folds_of(match: Match) -> Iterator[tuple[int, ViewerId, Fold]]:
    game = match.states[0].game
    viewers = (*range(match.played.players), PUBLIC, ALL_HANDS)
    before = {viewer: json_view(match, 0, viewer) for viewer in viewers}
    for after, step in enumerate(match.steps, 1):
        for viewer in viewers if step.events else ():
            events = [as_json(redact(event, game, viewer)) for event in step.events]
            known = json_view(match, after, viewer)
            yield after, viewer, Fold(before[viewer], events, known)
            before[viewer] = known


def vectors() -> dict[str, list[Json]]:
    """Return the vectors by file, in the order of the cases."""
    by_case: dict[Case, list[Json]] = {case: [] for case in CASES}
    shown: Counter[tuple[Case, str]] = Counter()
    for played in MATCHES:
        match = play(played)
        for after, viewer, fold in folds_of(match):
            for case in CASES:
                kind = fold.after["viewer"]
                is_wanted = len(by_case[case]) < EACH and not shown[case, kind]
                if is_wanted and case.sign(fold):
                    shown[case, kind] += 1
                    by_case[case].append(_vector(case, match, after, viewer, fold))
    files: dict[str, list[Json]] = {"first_view": [*_first_views()]}
    for case, case_vectors in by_case.items():
        files.setdefault(case.file, []).extend(case_vectors)
    return files


def _vector(case: Case, match: Match, after: int, viewer: ViewerId, fold: Fold) -> Json:
    who = viewer if viewer >= 0 else fold.after["viewer"]
    return {
        "id": f"{case.file}/{case.name}/{match.played.id}/{after}/{who}",
        "about": case.about,
        "match": match.played.id,
        "after": after,
        "start": start_of(match.states[0].game, viewer),
        "before": fold.before,
        "events": fold.events,
        "view": fold.after,
    }


def _first_views() -> Iterator[Json]:
    """Yield the vectors from nothing to the first decision, for a match of each game, with and without its
    options."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for played in MATCHES:
        if (played.game, played.options) in seen:
            continue
        seen.add((played.game, played.options))
        match = play(played)
        game = match.states[0].game
        for viewer in (0, PUBLIC, ALL_HANDS):
            who = viewer if viewer >= 0 else viewer_kind(viewer)
            yield {
                "id": f"first_view/{played.id}/0/{who}",
                "about": "the set-up, from the first view on",
                "match": played.id,
                "after": 0,
                "start": start_of(game, viewer),
                "before": as_json(blank_view(game, viewer)),
                "events": [as_json(redact(event, game, viewer)) for event in match.set_up],
                "view": json_view(match, 0, viewer),
            }


def start_of(game: Game, viewer: ViewerId) -> Json:
    """Return the part of a `start` that a fold needs. It has only the id of the board."""
    technologies = for_sale(game.rules)
    return {
        "viewer": viewer_kind(viewer),
        **({"seat": viewer} if viewer >= 0 else {}),
        "players": [{"seat": seat, "team": team} for seat, team in enumerate(game.team_of)],
        "game": game.id,
        "options": list(game.options),
        "board": game.board.file.id,
        **({} if technologies is UNSET else {"technologies": as_json(technologies)}),
    }


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files."""
    for name, lines in vectors().items():
        yield f"{name}.jsonl", b"".join(canonical.encode(line) + b"\n" for line in lines)
