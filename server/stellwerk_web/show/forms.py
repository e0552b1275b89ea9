"""The language of streams: the JSON forms of heads, changes and states. Every `data:` is one object.

`/stream`
  state   {"title", "kind", "source", "connected", "counts", "matches": [HEAD],
           "ranking": RANKING or null, "tournament": object or null}
  change  any of {"matches": [HEAD] (put, or replaced by id), "gone": [id],
           "connected", "counts", "ranking", "tournament"}
`/stream/match/ID`
  state   {"head", "start" (null while it is not here yet), "events": [event],
           "seats": {seat: state}, "end" (or null), "connected"}
  change  any of {"head", "events": [event], "seat": {seat: state}, "end", "connected"}
`/stream/wall`
  state   {"overview": a state without its matches, "tables": [TABLE], "main": table,
           "waiting", "not_shown"}
  change  any of {"overview": a change without its matches, "put": [TABLE],
           "tables": [{"table", "head", "is_live", "events"?, "end"?}], "main", "waiting", "not_shown"}
  TABLE   {"table", "head", "start", "events", "end", "is_live", "since_ms"};
           {"table", "head": null} if it is free
`/data/bot/NAME` and `/data/pair/NAME/NAME`: see `BotPage` and `PairPage` in results.py

`start` and `end` are messages of the protocol, `events` the `event` of its event messages, all as the
public gets them. `counts` is {"running", "ended", "failed"}. On the wall a head says no more than has been
shown there. `connected` is false while the source cannot be reached: what is shown may be old.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from stellwerk_protocol.messages import Player
from stellwerk_tournament.store.field import WhyOut

MatchState = Literal["running", "ended", "failed", "due"]
Kind = Literal["server", "folder", "tournament"]
JsonObject: TypeAlias = "dict[str, Any]"  # Any: it is only passed on

encode = msgspec.json.Encoder().encode


class Head(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A match in one line. `points` and `ranks` are by seat; `page` says that /replay/ID has the whole
    match page."""

    match: str
    state: MatchState
    game: str
    options: tuple[str, ...]
    players: tuple[Player, ...]
    turn: int | UnsetType = UNSET
    points: tuple[int, ...] | UnsetType = UNSET
    ranks: tuple[int, ...] | UnsetType = UNSET
    block: str | UnsetType = UNSET
    round: int | UnsetType = UNSET
    began_ms_ago: int | UnsetType = UNSET
    page: bool = False


def with_standing(head: Head, turn: int | None, points: tuple[int, ...] | None) -> Head:
    """Return the head of a running match with what its events say."""
    return replace(
        head, turn=head.turn if turn is None else turn, points=head.points if points is None else points
    )


class RankingRow(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A bot's line in the ranking. `score` is a share from 0 to 1; `faults` and `forfeits` are matches. An
    interval has null where the matches set no limit. `out` says why the bot is out of the ranking, if it is.
    `group` is there if not all bots can be compared."""

    bot: str
    matches: int
    score: float
    points: float
    elo: float | UnsetType = UNSET
    low: float | UnsetType | None = UNSET
    high: float | UnsetType | None = UNSET
    faults: int = 0
    forfeits: int | UnsetType = UNSET
    out: WhyOut | UnsetType = UNSET
    group: int | UnsetType = UNSET


class Ranking(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """`over` says of what it is made: "12 complete blocks", "40 matches seen"."""

    rows: tuple[RankingRow, ...]
    over: str
    note: str | UnsetType = UNSET
