"""The closed list of error codes, with the meaning of each and a cure.

The part before the dot shows whose fault it is. Within a protocol version the list only grows.
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
        "send shorter lines; the server closes the connection",
    ),
    "wire.not_utf8": ("the line is not UTF-8", "encode text as UTF-8"),
    "wire.too_deep": ("too many levels of brackets", "no message needs more than four"),
    "wire.not_json": ("the line is not JSON", "send one JSON object in each line, and end it with a newline"),
    "wire.duplicate_name": ("an object has the same name twice", "write each name once"),
    "wire.bad_number": ("a number is not an integer, or exceeds 2^53-1", "send small integers"),
    "protocol.not_an_object": ("the line is JSON, but not an object", "send an object with a `type`"),
    "protocol.unknown_type": ("there is no such message", "`expected` names the closest type"),
    "protocol.unknown_field": (
        "the message has no such field",
        "`expected` names the closest field; see `features` in `hello`",
    ),
    "protocol.missing_field": ("a field is missing", "`pointer` shows where"),
    "protocol.wrong_value": (
        "a field has a wrong value",
        "`pointer` shows the field, and `expected` what it accepts",
    ),
    "protocol.out_of_phase": (
        "the message is not allowed at this moment",
        "`expected` describes what is allowed",
    ),
    "protocol.version": ("the server does not speak this version", "choose one of `hello.protocols`"),
    "protocol.stale_ask": ("the ask has ended", "do nothing; answer the next ask"),
    "protocol.no_such_match": ("the client is not in a match with this id", "use the id from `start`"),
    "protocol.no_such_room": (
        "there is no room with this id",
        "join without a room, or name a game to open the room",
    ),
    "protocol.too_many_matches": (
        "more matches than `max_matches`",
        "wait until a match ends, or log in with a higher number",
    ),
    "protocol.too_fast": (
        "more messages a second than the limit",
        "send fewer; the server reads more slowly meanwhile",
    ),
    "auth.name_taken": ("another session has this name", "choose another name, or send its token"),
    "auth.bad_token": ("the token is unknown, withdrawn, or not for this name", "ask the organizer"),
    "auth.token_needs_tls": ("a token from another machine without TLS", "connect with TLS"),
    "auth.bad_resume_key": (
        "the session or the key is not known",
        "log in without `resume`; the token takes the seat back too",
    ),
    "auth.not_allowed": ("this client may not do that", "log in with another token"),
    "auth.login_timeout": ("the client did not log in in time", "send `login` right after `hello`"),
    "game.over": ("the game has ended", "do nothing"),
    "game.not_asked": ("this seat owes no move", "answer only asks"),
    "game.wrong_move": (
        "the decision does not accept this kind of move",
        "see the decision on the game's page",
    ),
    "game.not_available": ("the action is not available now", "choose from `legal`"),
    "game.unknown_name": (
        "there is no such route, city, ticket or technology",
        "use the ids of the board in `start`",
    ),
    "game.route_taken": ("the route is claimed, closed or barred for this seat", "choose another route"),
    "game.missing_technology": ("the route needs a technology", "buy it first"),
    "game.not_enough_trains": ("the seat has fewer trains than the route is long", "choose a shorter route"),
    "game.not_enough_cards": ("the seat does not have these cards", "see the hand in the view"),
    "game.wrong_payment": ("the cards do not pay the price", "`expected` names the price"),
    "game.wrong_tickets": ("these tickets cannot be chosen", "choose from `legal`"),
    "game.wrong_cards": ("these cards cannot be laid", "choose from `legal`"),
    "server.busy": (
        "the server cannot write its journal; the clocks stand still",
        "send the same again after a second; it costs no try, so the error has no `tries`",
    ),
    "server.full": (
        "the server has no place for another session, room or match, or gave this place to a newcomer",
        "come back after `retry_ms`",
    ),
    "server.shutting_down": ("the server is shutting down", "come back after `retry_ms`, and resume"),
    "server.too_slow": ("the client does not read what the server sends", "keep reading; resume the seat"),
    "server.taken_over": ("another connection has resumed this session", "do nothing"),
    "server.failed": (
        "the server itself failed; the match that the message is about is over",
        "report it to the organizer; it costs no player anything",
    ),
}

ERROR_CODES: Final[tuple[ErrorCode, ...]] = (
    *get_args(LineErrorCode),
    *get_args(SessionErrorCode),
    *get_args(MoveErrorCode),
    *get_args(ServerErrorCode),
)

ANSWERS: Final[dict[str, tuple[ErrorCode, ...]]] = {
    "": (*get_args(LineErrorCode), "protocol.out_of_phase", "protocol.too_fast"),
    "login": (
        "protocol.version",
        "auth.name_taken",
        "auth.bad_token",
        "auth.token_needs_tls",
        "auth.bad_resume_key",
        "server.shutting_down",
    ),
    "join": (
        "protocol.too_many_matches",
        "auth.not_allowed",
        "server.busy",
        "server.full",
        "server.shutting_down",
        "server.failed",
    ),
    "leave": ("protocol.no_such_match", "protocol.no_such_room"),
    "ready": ("protocol.no_such_match",),
    "act": (
        *(code for code in get_args(MoveErrorCode) if code not in ("game.over", "game.not_asked")),
        "protocol.stale_ask",
        "protocol.no_such_match",
        "server.busy",
        "server.failed",
    ),
    "ping": (),
    "watch": ("protocol.no_such_match", "auth.not_allowed"),
    "matches": ("auth.not_allowed",),
}
"""The errors that may answer each message of a client, by its type; "" has those that may answer any line. An
act for the open ask never finds the game over, or its seat not asked."""
