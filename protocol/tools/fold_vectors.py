"""The vectors of `protocol/conformance/vectors/folds`: a view, the events of one move, and the view after
them.

They cover what a client that keeps its own view gets wrong most easily. A vector belongs to a case of
`fold_cases.toml`, and a case to the file that a requirement names. A case has a sign, which detects the moves
in the matches of `vectors/rules` that show it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET

from stellwerk_engine.core.state import Game
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.fold import blank_view
from stellwerk_engine.knowledge.redact import redact
from stellwerk_engine.knowledge.view import ALL_HANDS, PUBLIC, ViewerId, view, viewer_kind
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.technologies.buy_technology import for_sale
from stellwerk_protocol import canonical
from tools.game_vectors import MATCHES, Match, play

Json = dict[str, Any]  # Any: a JSON value

EACH: Final = 2  # vectors of a case
CARDS_IN: Final = {
    "hand": "cards",
    "holder": "holder_cards",
}  # the field of an event with cards of this place


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

    def team(self, event: Json) -> Json:
        """Return the team of the seat that an event is about, before."""
        team: Json = self.before["teams"][self.after["players"][event["seat"]]["team"]]
        return team

    def records(self) -> Iterator[tuple[Json, Json]]:
        """Yield the view, each player and each team, before and after."""
        return chain([(self.before, self.after)], self.players(), self.teams())

    def ranked(self) -> list[Json]:
        """Return the teams of the result, if there is one."""
        teams: list[Json] = self.after.get("result", {}).get("teams", [])
        return teams

    def counts_an_idle_turn(self) -> bool:
        return bool(self.after["progress_turn"] == self.before["progress_turn"])


# -- signs -------------------------------------------------------------------------------------------
# A sign tests whether a move shows a case. Its words after the fold are in `fold_cases.toml`, after its name.


def merged(fold: Fold, field: str) -> bool:
    """Test whether new names come between the old ones, and not after them."""
    return any(_is_merged(old.get(field), new.get(field)) for old, new in (*fold.players(), *fold.teams()))


def _is_merged(old: list[str] | None, new: list[str] | None) -> bool:
    return bool(old and new and set(old) < set(new) and new[: len(old)] != old)


def reordered(fold: Fold, kind: str, field: str, into: str) -> bool:
    """Test whether an event names things in another order than the view then has them."""
    for event in fold.all(kind):
        names = [name for name in fold.seat(event)[1].get(into, []) if name in event.get(field, [])]
        if len(names) > 1 and names != event[field]:
            return True
    return False


def offered_again(fold: Fold) -> bool:
    return any(
        set(fold.seat(event)[0]["returned"]) & set(event["tickets"])
        for event in fold.all("tickets_offered")
        if "tickets" in event
    )


def yard_is_sorted_in(fold: Fold) -> bool:
    yards = [[player["yard"] for player in fold.seat(event)] for event in fold.all("cards_laid")]
    return any(
        _is_merged(*([each["color"] for each in yard] for yard in old_and_new)) for old_and_new in yards
    )


def several_bonuses(fold: Fold) -> bool:
    return any(len(team["bonuses"]) > 1 for team in fold.ranked())


def double_heading_without_bonus(fold: Fold) -> bool:
    return any(
        "double_heading" in fold.after["players"][team["seats"][0]].get("technologies", [])
        and not any(bonus["bonus"] == "double_heading" for bonus in team["bonuses"])
        for team in fold.ranked()
    )


def pays_more_than_known(fold: Fold, place: str) -> bool:
    return any(0 < known.get(color, 0) < number for known, color, number in _payments(fold, place))


def pays_less_than_known(fold: Fold, place: str) -> bool:
    return any(known.get(color, 0) > number for known, color, number in _payments(fold, place))


def _payments(fold: Fold, place: str) -> Iterator[tuple[Json, str, int]]:
    """Yield the cards of a place that were known before a payment, and each color paid with its number."""
    for event in fold.all("route_claimed", "technology_bought", "cards_laid"):
        for color, number in event.get(CARDS_IN[place], {}).items():
            yield _known_cards(fold, event, place), color, number


def _known_cards(fold: Fold, event: Json, place: str) -> Json:
    """Return the cards that were known in a place of the seat that an event is about."""
    known: Json = fold.seat(event)[0]["known_cards"] if place == "hand" else fold.team(event)["known_holder"]
    return known


def shown(fold: Fold, place: str, *known: str) -> bool:
    """Test whether an abandoned tunnel made more cards known, where some of that color were known already, or
    none."""
    return any(
        had < number and bool(had) == bool(known)
        for event in fold.all("tunnel_abandoned")
        for color, number in event.get(CARDS_IN[place], {}).items()
        for had in [_known_cards(fold, event, place).get(color, 0)]
    )


def event(fold: Fold, kind: str, *fields: str) -> bool:
    wanted = dict(field.split("=") for field in fields)
    return any(wanted.items() <= event.items() for event in fold.all(kind))


def unplaced(fold: Fold, kind: str, *seen: str) -> bool:
    return any("place" not in event and ("card" in event) == bool(seen) for event in fold.all(kind))


def placed(fold: Fold, place: str, *marks: str) -> bool:
    return any(
        event["place"] == place
        and event["open"] == ("open" in marks)
        and ("card" in event) == ("seen" in marks)
        for event in fold.all("card_placed")
    )


def goes(fold: Fold, field: str) -> bool:
    """Test whether a field of the view or of a seat is present before and absent after."""
    return any(field in old and field not in new for old, new in fold.records())


def comes(fold: Fold, field: str) -> bool:
    return any(field not in old and field in new for old, new in fold.records())


def empties(fold: Fold, field: str) -> bool:
    """Test whether a list or set becomes empty, and stays present."""
    return any(old.get(field) and field in new and not new[field] for old, new in fold.records())


def sells_the_last(fold: Fold) -> bool:
    return fold.has("technology_bought") and len(fold.after["supply"]) < len(fold.before["supply"])


def keeps_no_ticket(fold: Fold) -> bool:
    return fold.has("tickets_kept") and fold.counts_an_idle_turn() and fold.before["turn"] > 0


def gives_up_a_tunnel_idly(fold: Fold) -> bool:
    return fold.has("tunnel_abandoned") and fold.counts_an_idle_turn()


def runs_on_over_the_halves(fold: Fold) -> bool:
    """Test whether the first half ended with a pass."""
    return fold.has("half_started") and fold.before["passes"] > 0


def ends_after_one_card(fold: Fold, *may_stop: str) -> bool:
    """Test this in a game in which one card may be enough, or in any other game."""
    draw = RULE_SETS[fold.before["game"]].part(DrawCards)
    assert draw is not None
    cards = [*fold.all("card_drawn"), *(e for e in fold.all("card_taken") if e["card"] != "locomotive")]
    asked = {event["decision"]["type"] for event in fold.all("asked")}
    return (
        fold.before.get("pending", {}).get("type") in ("take_turn", "take_action")
        and len(cards) == 1
        and not asked & {"place_card", "second_card"}
        and draw.second_optional == bool(may_stop)
    )


def removed(fold: Fold, *seen: str) -> bool:
    return any(("tickets" in event) == bool(seen) for event in fold.all("tickets_removed"))


def uses_a_route(fold: Fold) -> bool:
    return len({"route" in station for team in fold.ranked() for station in team.get("stations", [])}) == 2


SIGNS: Final[dict[str, Callable[..., bool]]] = {
    sign.__name__: sign
    for sign in (
        *(merged, reordered, offered_again, yard_is_sorted_in, several_bonuses, double_heading_without_bonus),
        *(pays_more_than_known, pays_less_than_known, shown, event, unplaced, placed, goes, comes, empties),
        *(sells_the_last, keeps_no_ticket, gives_up_a_tunnel_idly, runs_on_over_the_halves),
        *(ends_after_one_card, removed, uses_a_route),
    )
}


# -- cases -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    file: str
    name: str
    sign: str
    about: str

    def is_shown_by(self, fold: Fold) -> bool:
        name, *words = self.sign.split()
        return SIGNS[name](fold, *words)


TABLE: Final = msgspec.toml.decode(
    Path(__file__).with_name("fold_cases.toml").read_bytes(), type=dict[str, dict[str, tuple[str, str]]]
)
CASES: Final = tuple(Case(file, name, *row) for file, rows in TABLE.items() for name, row in rows.items())


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
                if is_wanted and case.is_shown_by(fold):
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
