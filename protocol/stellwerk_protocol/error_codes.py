"""Every code with which a line is refused: one closed list, with what each means and what to do.

The part before the dot says whose fault it is. The list only ever grows within a protocol version.
"""

from typing import Final, Literal, get_args

from stellwerk_protocol.errors import MoveErrorCode

LineErrorCode = Literal[
    "wire.too_long",
    "wire.not_utf8",
    "wire.too_deep",
    "wire.not_json",
    "wire.duplicate_name",
    "wire.bad_number",
    "protocol.not_an_object",
    "protocol.unknown_type",
    "protocol.unknown_field",
    "protocol.missing_field",
    "protocol.wrong_value",
]
SessionErrorCode = Literal[
    "protocol.out_of_phase",
    "protocol.version",
    "protocol.stale_ask",
    "protocol.no_such_match",
    "protocol.no_such_room",
    "protocol.too_many_matches",
    "protocol.too_fast",
    "auth.name_taken",
    "auth.bad_token",
    "auth.token_needs_tls",
    "auth.bad_resume_key",
    "auth.not_allowed",
    "auth.login_timeout",
]
ServerErrorCode = Literal[
    "server.busy",
    "server.full",
    "server.shutting_down",
    "server.too_slow",
    "server.taken_over",
    "server.failed",
]
ErrorCode = MoveErrorCode | LineErrorCode | SessionErrorCode | ServerErrorCode

CURES: Final[dict[ErrorCode, tuple[str, str]]] = {
    "wire.too_long": (
        "the line is longer than the limit in `hello`",
        "send less in a line; the connection ends",
    ),
    "wire.not_utf8": ("the line is not UTF-8", "encode text as UTF-8"),
    "wire.too_deep": ("too many levels of brackets", "no message needs more than four"),
    "wire.not_json": ("the line is not JSON", "one JSON object a line, ended by a newline"),
    "wire.duplicate_name": ("a name stands twice in one object", "write each name once"),
    "wire.bad_number": ("a number that is no integer of at most 2^53-1", "send small integers"),
    "protocol.not_an_object": ("the line is JSON, but no object", "send an object with a `type`"),
    "protocol.unknown_type": ("there is no such message", "`expected` names the nearest"),
    "protocol.unknown_field": ("the message has no such field", "`expected` names the nearest; see `hello`"),
    "protocol.missing_field": ("a field is missing", "`pointer` says where"),
    "protocol.wrong_value": (
        "a field has a value of the wrong form",
        "`pointer` and `expected` say what it takes",
    ),
    "protocol.out_of_phase": ("the message is not for this moment", "`expected` says what is"),
    "protocol.version": ("the server does not speak this version", "choose one of `hello.protocols`"),
    "protocol.stale_ask": ("the ask has ended", "nothing: answer the next one"),
    "protocol.no_such_match": ("the client is in no such match", "use the id from `start`"),
    "protocol.no_such_room": ("there is no such room", "join without a room, or create it with a game"),
    "protocol.too_many_matches": ("more matches than `max_matches`", "wait for an end, or log in with more"),
    "protocol.too_fast": ("more messages a second than the limit", "send less; reading pauses meanwhile"),
    "auth.name_taken": ("somebody else has this name", "choose another, or send its token"),
    "auth.bad_token": ("no such token", "ask the organizer"),
    "auth.token_needs_tls": ("a token in the clear beyond this machine", "connect with TLS"),
    "auth.bad_resume_key": (
        "session or key are not known",
        "log in afresh; the seat's token takes it back too",
    ),
    "auth.not_allowed": ("this client may not do that", "it takes another token"),
    "auth.login_timeout": ("no login in time", "send `login` right after `hello`"),
    "game.over": ("the game has ended", "nothing"),
    "game.not_asked": ("this seat owes no move", "answer asks only"),
    "game.wrong_move": ("the decision takes no such move", "see the decision's page"),
    "game.not_available": ("the action is not available now", "choose from `legal`"),
    "game.unknown_name": ("no such route, ticket or technology", "names are the ids of the board in `start`"),
    "game.route_taken": ("the route is claimed, closed or barred for this seat", "choose another"),
    "game.missing_technology": ("the route needs a technology", "buy it first"),
    "game.not_enough_trains": ("fewer trains than the route is long", "choose a shorter one"),
    "game.not_enough_cards": ("the cards named are not there", "see the hand in the view"),
    "game.wrong_payment": ("the cards do not pay the price", "`expected` names the price"),
    "game.wrong_tickets": ("tickets that cannot be chosen so", "choose from `legal`"),
    "game.wrong_cards": ("cards that cannot be laid so", "choose from `legal`"),
    "server.busy": (
        "the server cannot write its journal; clocks stand still",
        "the same again in a second: it costs no try, and the error names none",
    ),
    "server.full": (
        "no more sessions, rooms or matches, or a newcomer has got this place",
        "come back after `retry_ms`",
    ),
    "server.shutting_down": ("the server is going down", "come back after `retry_ms`, and resume"),
    "server.too_slow": ("the client does not read what it is sent", "read on; the seat can be resumed"),
    "server.taken_over": ("another connection has resumed this session", "nothing"),
    "server.failed": ("an error of the server's own ended this", "tell the organizer; it costs nobody"),
}

ERROR_CODES: Final[tuple[ErrorCode, ...]] = (
    *get_args(LineErrorCode),
    *get_args(SessionErrorCode),
    *get_args(MoveErrorCode),
    *get_args(ServerErrorCode),
)
