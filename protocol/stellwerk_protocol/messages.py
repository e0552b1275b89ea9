"""The messages of protocol version 1: one struct for each kind, distinguished by `type`.

Server and client send lines, one JSON object each. Messages about a match carry its `match` id. This module
defines the form of the messages, with every field bounded by its type; the session decides which message is
allowed when. A server's message may gain new fields, and a client ignores those that it does not know. A
client's message with an unknown field is refused, so that a typing error does not go unnoticed.
"""

from typing import Annotated, Final, Literal, get_args

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from stellwerk_protocol.canonical import LARGEST_INT
from stellwerk_protocol.decisions import Decision
from stellwerk_protocol.error_codes import ErrorCode
from stellwerk_protocol.events import Event
from stellwerk_protocol.moves import Move
from stellwerk_protocol.names import (
    END,
    MAX_SEATS,
    Count,
    Digits64,
    GameName,
    OptionName,
    PlayerName,
    Points,
    Rank,
    Seat,
    Team,
    Viewer,
)
from stellwerk_protocol.parts import Parts
from stellwerk_protocol.results import Result
from stellwerk_protocol.technologies import TechnologyForSale
from stellwerk_protocol.views import View

PROTOCOL_VERSION: Final = 1

Number = Annotated[int, Meta(title="WholeNumber", ge=0, le=LARGEST_INT)]
Milliseconds = Annotated[
    int, Meta(title="Milliseconds", ge=0, le=LARGEST_INT)
]  # a duration, never a time of day
Id = Annotated[str, Meta(title="Id", min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+" + END)]
Secret = Annotated[str, Meta(title="Secret", min_length=1, max_length=256, pattern=r"^[!-~]+" + END)]
ShortText = Annotated[str, Meta(title="ShortText", max_length=200)]
SeedText = Annotated[str, Meta(title="SeedText", min_length=1, max_length=200)]
OptionNames = Annotated[tuple[OptionName, ...], Meta(max_length=8)]
SeatCount = Annotated[int, Meta(title="SeatCount", ge=2, le=MAX_SEATS)]


# -- from the server ---------------------------------------------------------------------------------


class _FromServer(Struct, frozen=True, tag_field="type", omit_defaults=True, gc=False):
    pass


class Limits(Struct, frozen=True, gc=False):
    """The limits for a client, as set on this server (`protocol/README.md` explains each)."""

    line_before_login: Number
    line: Number
    depth: Number
    login_ms: Milliseconds
    messages_a_second: Number
    burst: Number
    unsent_bytes: Number
    unsent_ms: Milliseconds


class Hello(_FromServer, frozen=True, tag="hello"):
    """The first line of a connection, from the server."""

    protocols: Annotated[tuple[Number, ...], Meta(max_length=16)]
    server: ShortText
    limits: Limits
    features: Annotated[tuple[OptionName, ...], Meta(max_length=64)]


class Wants(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The parts that a client wants in its asks, and whether it wants events. The default is everything."""

    legal: bool = True
    view: bool = True
    events: bool = True


class OfferedGame(Struct, frozen=True, gc=False):
    game: GameName
    title: ShortText
    rules_version: Number
    board: Id
    board_digest: Digits64
    players: Annotated[tuple[SeatCount, ...], Meta(max_length=MAX_SEATS)]
    options: OptionNames


class Welcome(_FromServer, frozen=True, tag="welcome"):
    """The answer to an accepted login. `resume_key` is valid until the first line after the next
    `welcome`."""

    session: Id
    resume_key: Secret
    name: PlayerName
    wants: Wants
    games: Annotated[tuple[OfferedGame, ...], Meta(max_length=32)]


class Joined(_FromServer, frozen=True, tag="joined"):
    """The state of a room. Its match starts when no player is `missing`. Sent again whenever that number
    changes. `request` is that of this client's `join`."""

    room: Id
    missing: Count
    request: Id | UnsetType = UNSET


class Left(_FromServer, frozen=True, tag="left"):
    """The answer to `leave`, or the end of a room that was not filled. No more messages about it follow."""

    room: Id | UnsetType = UNSET
    match: Id | UnsetType = UNSET


class Player(Struct, frozen=True, gc=False):
    seat: Seat
    team: Team
    name: PlayerName


class Clocks(Struct, frozen=True, gc=False):
    """The clocks of a match: see `protocol/README.md`, Time."""

    set_up_ms: Milliseconds
    move_ms: Milliseconds
    bank_ms: Milliseconds
    grace_ms: Milliseconds
    strikes: Number
    tries: Number
    defaults_in_a_row: Number
    defaults: Number


class Start(_FromServer, frozen=True, tag="start"):
    """The beginning of a match. `seat` is the client's own; a spectator has none. `board` is the content of a
    board file. `technologies` are those for sale, in games that have technologies. `parts` are those of a
    game that is not in `protocol/games.json`. `request` is that of the `join` or `watch` that it answers."""

    match: Id
    viewer: Viewer
    players: Annotated[tuple[Player, ...], Meta(max_length=MAX_SEATS)]
    game: GameName
    rules_version: Number
    options: OptionNames
    board: Annotated[Raw, Meta(title="Board")]  # the JSON text of a board, see `boards.py`
    board_digest: Digits64
    clocks: Clocks
    commitment: Digits64
    seat: Seat | UnsetType = UNSET
    technologies: Annotated[tuple[TechnologyForSale, ...], Meta(max_length=32)] | UnsetType = UNSET
    parts: Parts | UnsetType = UNSET
    request: Id | UnsetType = UNSET


class EventMessage(_FromServer, frozen=True, tag="event"):
    """One fact, as this viewer may know it, numbered from 1 for each viewer of a match."""

    match: Id
    number: Number
    event: Event


class Ask(_FromServer, frozen=True, tag="ask"):
    """A question to this seat, for which the match waits. `view` and `legal` are present as granted. `index`
    counts from 0 in `legal`, whether or not it is sent. `fallback` is the move that the server makes if no
    act is accepted."""

    match: Id
    ask: Number
    after_event: Number
    decision: Decision
    move_ms: Milliseconds
    bank_ms: Milliseconds
    tries: Number
    fallback: Move
    view: View | UnsetType = UNSET
    legal: Annotated[tuple[Move, ...], Meta(max_length=1000)] | UnsetType = UNSET
    legal_complete: bool | UnsetType = UNSET


class Ok(_FromServer, frozen=True, tag="ok"):
    """The answer to an accepted act."""

    match: Id
    ask: Number
    took_ms: Milliseconds
    bank_ms: Milliseconds


class Error(_FromServer, frozen=True, tag="error"):
    """The answer to a refused line, which changed nothing. `pointer` is a JSON Pointer into it. With `ask`,
    an act was refused: `tries` is the number of tries left, and `nearest` is a similar legal move. `retry_ms`
    is when the same line may succeed. `request` is that of a refused `join` or `watch`."""

    code: ErrorCode
    expected: ShortText
    pointer: ShortText | UnsetType = UNSET
    match: Id | UnsetType = UNSET
    ask: Number | UnsetType = UNSET
    tries: Number | UnsetType = UNSET
    nearest: Move | UnsetType = UNSET
    retry_ms: Milliseconds | UnsetType = UNSET
    request: Id | UnsetType = UNSET


DefaultReason = Literal["time", "tries", "left", "disconnected", "by_default"]
DEFAULT_REASONS: Final[tuple[DefaultReason, ...]] = get_args(DefaultReason)


class Default(_FromServer, frozen=True, tag="default"):
    """A move that the server made for this seat, with the reason. With `by_default`, the server moves for the
    seat at once from now on."""

    match: Id
    ask: Number
    reason: DefaultReason
    move: Move
    defaults: Count
    by_default: bool = False


class SeatChanged(_FromServer, frozen=True, tag="seat"):
    """A change of another seat: its connection is lost or back, it left for good, or it plays by default."""

    match: Id
    seat: Seat
    state: Literal["lost", "back", "left", "by_default"]


class End(_FromServer, frozen=True, tag="end"):
    """The end of a match. Seed and salt open the commitment, at once or `later`: when no match with the same
    deal remains to be played. `transcript` is the hash of the replay's last line."""

    match: Id
    result: Result
    transcript: Digits64
    reveal: Literal["now", "later"]
    seed: Digits64 | UnsetType = UNSET
    salt: Digits64 | UnsetType = UNSET


MatchState = Literal["running", "ended", "failed"]

MOST_LISTED: Final = 60
"""Matches in one `match_list`: as many as surely fit into a line."""


class ListedMatch(Struct, frozen=True, omit_defaults=True, gc=False):
    """A public match, as it is now. A running one has `decisions`; an ended one has
    `turns`, and `ranks` and `points` by seat. One that the server failed has none of these."""

    match: Id
    state: MatchState
    game: GameName
    options: OptionNames
    players: Annotated[tuple[Player, ...], Meta(max_length=MAX_SEATS)]
    decisions: Number | UnsetType = UNSET
    turns: Count | UnsetType = UNSET
    ranks: Annotated[tuple[Rank, ...], Meta(max_length=MAX_SEATS)] | UnsetType = UNSET
    points: Annotated[tuple[Points, ...], Meta(max_length=MAX_SEATS)] | UnsetType = UNSET


class MatchList(_FromServer, frozen=True, tag="match_list"):
    """The matches that have changed after a cursor, each once and as it is now, in the order of their latest
    changes. With `anew` the list begins anew: forget what it had. With `more` there are more: ask again."""

    cursor: Id
    matches: Annotated[tuple[ListedMatch, ...], Meta(max_length=MOST_LISTED)]
    anew: bool = False
    more: bool = False


class Pong(_FromServer, frozen=True, tag="pong"):
    echo: Number | UnsetType = UNSET


class Bye(_FromServer, frozen=True, tag="bye"):
    """The last line of a connection: the reason, and when to come back, if at all."""

    code: ErrorCode | Literal["done"]
    expected: ShortText
    retry_ms: Milliseconds | UnsetType = UNSET


FromServer = (
    Hello
    | Welcome
    | Joined
    | Left
    | Start
    | EventMessage
    | Ask
    | Ok
    | Error
    | Default
    | SeatChanged
    | End
    | MatchList
    | Pong
    | Bye
)


# -- from the client ---------------------------------------------------------------------------------


class _FromClient(
    Struct, frozen=True, tag_field="type", omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    pass


class Resume(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The session to continue. `last_events` has, for each match, the last event that the client has; 0 asks
    for `start` too. `ended` lists matches whose `end` has arrived: the server sends nothing more about
    them."""

    session: Id
    key: Secret
    last_events: Annotated[dict[Id, Number], Meta(max_length=64)]
    ended: Annotated[tuple[Id, ...], Meta(max_length=64)] = ()


class Login(_FromClient, frozen=True, tag="login"):
    """The first line of a client. `token` proves a name or reserves a seat; with `resume` none is needed."""

    protocol: Number
    name: PlayerName
    language: ShortText = ""
    token: Secret | UnsetType = UNSET
    max_matches: Annotated[int, Meta(ge=1, le=64)] = 1
    wants: Wants = Wants()
    resume: Resume | UnsetType = UNSET


class Join(_FromClient, frozen=True, tag="join"):
    """A request to enter the room of that name, or any that fits, or to open one. With `against`, which names
    a house bot for each of the other seats in order, it starts a practice match at once; `seat` and `seed`
    can then be chosen. `request` comes back in the answers."""

    game: GameName
    players: SeatCount
    options: OptionNames = ()
    room: Id | UnsetType = UNSET
    against: Annotated[tuple[PlayerName, ...], Meta(max_length=MAX_SEATS)] = ()
    seat: Seat | UnsetType = UNSET
    seed: SeedText | UnsetType = UNSET
    request: Id | UnsetType = UNSET


class Leave(_FromClient, frozen=True, tag="leave"):
    """A request to leave a room or a match. In a match, the server makes the seat's fallbacks for good."""

    match: Id | UnsetType = UNSET
    room: Id | UnsetType = UNSET


class Ready(_FromClient, frozen=True, tag="ready"):
    """The end of the set-up clock for this seat."""

    match: Id


class Act(_FromClient, frozen=True, tag="act"):
    """The answer to an ask: exactly one of `index` and `move`. `note` is kept in the replay of the match."""

    match: Id
    ask: Number
    index: Annotated[int, Meta(ge=0, lt=1000)] | UnsetType = UNSET
    move: Move | UnsetType = UNSET
    note: Annotated[str, Meta(max_length=500)] = ""


class Ping(_FromClient, frozen=True, tag="ping"):
    echo: Number | UnsetType = UNSET


class Watch(_FromClient, frozen=True, tag="watch"):
    """A request to watch a match that runs or has ended lately: as the public, at once; with the organizer's
    token and all hands, after the end. `request` comes back in the answer."""

    match: Id
    viewer: Literal["public", "all_hands"] = "public"
    request: Id | UnsetType = UNSET


class ListMatches(_FromClient, frozen=True, tag="matches"):
    """A request for the matches that have changed after that cursor; without one, for all."""

    after: Id | UnsetType = UNSET


FromClient = Login | Join | Leave | Ready | Act | Ping | Watch | ListMatches
