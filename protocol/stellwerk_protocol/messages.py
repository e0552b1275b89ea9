"""The messages of protocol version 1: one struct a kind, told apart by `type`.

Server and client speak in lines, one JSON object each. Messages about a match carry its `match` id. What
may be said when is the session's affair; here stands what can be said at all, every field bounded in its
type. A server's message may grow new fields, and a client ignores those that it does not know; a client's
message with an unknown field is refused, so that a typing error does not pass for a wish.
"""

from typing import Annotated, Final, Literal, get_args

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

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
    Seat,
    Team,
    Viewer,
)
from stellwerk_protocol.results import Result
from stellwerk_protocol.technologies import TechnologyForSale
from stellwerk_protocol.views import View

PROTOCOL_VERSION: Final = 1
LARGEST_INT: Final = 2**53 - 1  # the largest integer that every language holds exactly (I-JSON)

Number = Annotated[int, Meta(title="WholeNumber", ge=0, le=LARGEST_INT)]
Milliseconds = Annotated[int, Meta(title="Milliseconds", ge=0, le=LARGEST_INT)]  # a duration, never a time
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
    """What a client has to keep to, as this server has it set (`protocol/README.md` explains each)."""

    line_before_login: Number
    line: Number
    depth: Number
    login_ms: Milliseconds
    messages_a_second: Number
    burst: Number
    unsent_bytes: Number
    unsent_ms: Milliseconds


class Hello(_FromServer, frozen=True, tag="hello"):
    """The server speaks first."""

    protocols: Annotated[tuple[Number, ...], Meta(max_length=16)]
    server: ShortText
    limits: Limits
    features: Annotated[tuple[OptionName, ...], Meta(max_length=64)]


class Wants(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """What a client wants in its asks, and whether it wants events. All, unless it says no."""

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
    """Logged in. `resume_key` is good until the first line after the next `welcome`."""

    session: Id
    resume_key: Secret
    name: PlayerName
    wants: Wants
    games: Annotated[tuple[OfferedGame, ...], Meta(max_length=32)]


class Joined(_FromServer, frozen=True, tag="joined"):
    """In a room, which starts its match when nobody is `missing` any more. Said again when that changes."""

    room: Id
    missing: Count


class Left(_FromServer, frozen=True, tag="left"):
    """The answer to `leave`, or a room has closed that nobody has filled; nothing more comes of it."""

    room: Id | UnsetType = UNSET
    match: Id | UnsetType = UNSET


class Player(Struct, frozen=True, gc=False):
    seat: Seat
    team: Team
    name: PlayerName


class Clocks(Struct, frozen=True, gc=False):
    """How much time there is: see `protocol/README.md`, Time."""

    set_up_ms: Milliseconds
    move_ms: Milliseconds
    bank_ms: Milliseconds
    grace_ms: Milliseconds
    strikes: Number
    tries: Number
    defaults_in_a_row: Number
    defaults: Number


class Start(_FromServer, frozen=True, tag="start"):
    """A match begins. `seat` is the client's own; a spectator has none. `board` is a board file's content.
    `technologies` are those for sale, in games that have some."""

    match: Id
    viewer: Viewer
    players: Annotated[tuple[Player, ...], Meta(max_length=MAX_SEATS)]
    game: GameName
    rules_version: Number
    options: OptionNames
    board: Annotated[Raw, Meta(title="Board")]  # the text of one, as `boards.py` has it
    board_digest: Digits64
    clocks: Clocks
    commitment: Digits64
    seat: Seat | UnsetType = UNSET
    technologies: Annotated[tuple[TechnologyForSale, ...], Meta(max_length=32)] | UnsetType = UNSET


class EventMessage(_FromServer, frozen=True, tag="event"):
    """One fact, as this viewer may know it, numbered from 1 for each viewer of a match."""

    match: Id
    number: Number
    event: Event


class Ask(_FromServer, frozen=True, tag="ask"):
    """The match waits for this seat. `view` and `legal` are there as granted; `index` counts from 0 in
    `legal`, whether it is sent or not. `fallback` is what will be done for who fails."""

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
    """The act was accepted."""

    match: Id
    ask: Number
    took_ms: Milliseconds
    bank_ms: Milliseconds


class Error(_FromServer, frozen=True, tag="error"):
    """A line was refused; nothing has changed. `pointer` is a JSON Pointer into it. With `ask`: an act was
    refused, and may be tried again `tries` times; `nearest` is a legal move like it. `retry_ms` says when the
    same line may succeed."""

    code: ErrorCode
    expected: ShortText
    pointer: ShortText | UnsetType = UNSET
    match: Id | UnsetType = UNSET
    ask: Number | UnsetType = UNSET
    tries: Number | UnsetType = UNSET
    nearest: Move | UnsetType = UNSET
    retry_ms: Milliseconds | UnsetType = UNSET


DefaultReason = Literal["time", "tries", "left", "disconnected", "by_default"]
DEFAULT_REASONS: Final[tuple[DefaultReason, ...]] = get_args(DefaultReason)


class Default(_FromServer, frozen=True, tag="default"):
    """The server moved for this seat, and why. With `by_default` it will go on doing so at once."""

    match: Id
    ask: Number
    reason: DefaultReason
    move: Move
    defaults: Count
    by_default: bool = False


class SeatChanged(_FromServer, frozen=True, tag="seat"):
    """Another seat lost its connection, is back, left for good, or plays by default from now on."""

    match: Id
    seat: Seat
    state: Literal["lost", "back", "left", "by_default"]


class End(_FromServer, frozen=True, tag="end"):
    """The match is over. Seed and salt open the commitment, at once or `later`: when no match with the same
    deal is still to be played. `transcript` is the hash of the replay's last line."""

    match: Id
    result: Result
    transcript: Digits64
    reveal: Literal["now", "later"]
    seed: Digits64 | UnsetType = UNSET
    salt: Digits64 | UnsetType = UNSET


class Pong(_FromServer, frozen=True, tag="pong"):
    echo: Number | UnsetType = UNSET


class Bye(_FromServer, frozen=True, tag="bye"):
    """The last line of a connection: why, and when to come back, if at all."""

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
    | Pong
    | Bye
)


# -- from the client ---------------------------------------------------------------------------------


class _FromClient(
    Struct, frozen=True, tag_field="type", omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    pass


class Resume(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The session to go on with. `last_events` says, for each match, up to which event the client has all;
    0 asks for `start` too. `ended` lists matches whose `end` has arrived: nothing more is sent about them."""

    session: Id
    key: Secret
    last_events: Annotated[dict[Id, Number], Meta(max_length=64)]
    ended: Annotated[tuple[Id, ...], Meta(max_length=64)] = ()


class Login(_FromClient, frozen=True, tag="login"):
    """The first line of a client. `token` proves a name or reserves a seat."""

    protocol: Number
    name: PlayerName
    language: ShortText = ""
    token: Secret | UnsetType = UNSET
    max_matches: Annotated[int, Meta(ge=1, le=64)] = 1
    wants: Wants = Wants()
    resume: Resume | UnsetType = UNSET


class Join(_FromClient, frozen=True, tag="join"):
    """Enter the room of that name, or any that fits, or create it. With `against`, a house bot for each of
    the other seats in their order: a practice match, at once, in which `seat` and `seed` can be chosen."""

    game: GameName
    players: SeatCount
    options: OptionNames = ()
    room: Id | UnsetType = UNSET
    against: Annotated[tuple[PlayerName, ...], Meta(max_length=MAX_SEATS)] = ()
    seat: Seat | UnsetType = UNSET
    seed: SeedText | UnsetType = UNSET


class Leave(_FromClient, frozen=True, tag="leave"):
    """Leave a room, or a match: the fallback plays on for good."""

    match: Id | UnsetType = UNSET
    room: Id | UnsetType = UNSET


class Ready(_FromClient, frozen=True, tag="ready"):
    """Ends the set-up clock of this seat."""

    match: Id


class Act(_FromClient, frozen=True, tag="act"):
    """The answer to an ask: exactly one of `index` and `move`. `note` is kept in the bot's own replay."""

    match: Id
    ask: Number
    index: Annotated[int, Meta(ge=0, lt=1000)] | UnsetType = UNSET
    move: Move | UnsetType = UNSET
    note: Annotated[str, Meta(max_length=500)] = ""


class Ping(_FromClient, frozen=True, tag="ping"):
    echo: Number | UnsetType = UNSET


class Watch(_FromClient, frozen=True, tag="watch"):
    """Watch a match: as the public, at once; with the organizer's token with all hands, after the end."""

    match: Id
    viewer: Literal["public", "all_hands"] = "public"


FromClient = Login | Join | Leave | Ready | Act | Ping | Watch
