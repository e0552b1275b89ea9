"""Rule sets as data: `parts_of` describes one for other programs, and `rules_of` makes one of a description.

The law: each is the inverse of the other, for all rules that are made of the parts listed here. A part on the
wire has the fields of the part that it describes, by the same names. A new part is a line in `KINDS` and a
record in `stellwerk_protocol.parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from stellwerk_base.texts import shown
from stellwerk_engine.boards.board_file import parse_board
from stellwerk_engine.core import scoring, turn
from stellwerk_engine.core.game import GameError, make_game
from stellwerk_engine.core.state import Game, Option, RuleSet, TrainCards
from stellwerk_engine.games.check_parts import check_parts
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.holders import Holders
from stellwerk_engine.parts.long_tickets import LongTickets, remove_tickets
from stellwerk_engine.parts.rail_yards.lay_cards import LayCards, send_cards
from stellwerk_engine.parts.rail_yards.rail_yards import RailYards
from stellwerk_engine.parts.share_tickets import ShareTickets, ask_to_share
from stellwerk_engine.parts.stations.build_station import BuildStation, fewest_stations
from stellwerk_engine.parts.technologies.buy_technology import BuyTechnology
from stellwerk_engine.parts.technologies.technology import Technology
from stellwerk_engine.parts.tickets import DrawTickets, FirstTickets
from stellwerk_protocol import parts as wire
from stellwerk_protocol.canonical import encode
from stellwerk_protocol.parts import MAX_BYTES, Parts

KINDS: Final[dict[type[Struct], type[object]]] = {
    wire.TrainCards: TrainCards,
    wire.LongTickets: LongTickets,
    wire.FirstTickets: FirstTickets,
    wire.Holders: Holders,
    wire.DrawCards: DrawCards,
    wire.ClaimRoute: ClaimRoute,
    wire.DrawTickets: DrawTickets,
    wire.ShareTickets: ShareTickets,
    wire.BuildStation: BuildStation,
    wire.LayCards: LayCards,
    wire.RailYards: RailYards,
    wire.BuyTechnology: BuyTechnology,
    wire.Technology: Technology,
    wire.FewTrains: turn.FewTrains,
    wire.EmptyPile: turn.EmptyPile,
    wire.ForTheMost: scoring.ForTheMost,
    wire.Stake: scoring.Stake,
    wire.ForEachTicket: scoring.ForEachTicket,
    wire.BigCities: scoring.BigCities,
}
RECORDS: Final = {kind: record for record, kind in KINDS.items()}

# By the field that holds them. A name in another field is a name, such as a technology's.
FUNCTIONS: Final[dict[str, dict[str, Callable[..., Any]]]] = {  # Any: each field has its kind of function
    "share": {"ask_to_share": ask_to_share},
    "reject": {"remove_tickets": remove_tickets},
    "start_of_turn": {"send_cards": send_cards},
    "amount": {"longest_path": scoring.path_length, "completed_tickets": scoring.ticket_count},
    "tie_breaks": {
        "completed_tickets": scoring.completed_tickets,
        "longest_own_path": scoring.longest_own_path,
        "fewest_stations": fewest_stations,
        "bonus_cards": scoring.bonus_cards,
    },
}
_decode_parts = msgspec.json.Decoder(Parts).decode
SETS: Final = ("board_features", "home_regions", "home_lengths", "overseas_regions")


def parts_of(rules: RuleSet) -> Parts:
    """Describe the rules without their options. Raise ValueError for a part that has no record."""
    return Parts(**described_fields({name: getattr(rules, name) for name in Parts.__struct_fields__}))


def described_fields(fields: Mapping[str, Any]) -> dict[str, Any]:  # Any: values of any field of a rule set
    """Describe some fields of a rule set, such as those that an option changes."""
    return {name: _described(name, value) for name, value in fields.items()}


def rules_of(parts: Parts, game: str, rules_version: int, seats: int, options: Sequence[str] = ()) -> RuleSet:
    """Return the rules of a match with so many seats. Its options change nothing: the parts include them."""
    return RuleSet(
        id=game,
        title=game,
        rules_version=rules_version,
        board=game,
        seat_counts=(seats,),
        options=tuple(Option(option, "", {}) for option in options),
        **_fields(parts),
    )


def parts_on_wire(game: Game) -> Parts | UnsetType:
    """Return the parts that messages and replays of a game have: none for a shipped game."""
    return UNSET if game.id in RULE_SETS else parts_of(game.rules)


def rules_named(
    game: str, rules_version: int, seats: int, options: Sequence[str], parts: Parts | UnsetType = UNSET
) -> RuleSet:
    """Return the rules that a message or a replay names, or describes. Raise GameError if there are none."""
    rules = RULE_SETS.get(game)
    if isinstance(parts, UnsetType):
        if rules is None:
            known = ", ".join(RULE_SETS)
            raise GameError(f"the game {shown(game)} is not known here and has no parts; known are {known}")
        return rules
    if rules is not None:
        raise GameError(f"parts: the game {game} is a shipped one, whose parts are in protocol/games.json")
    size = len(encode(parts))
    if size > MAX_BYTES:
        raise GameError(f"parts: {size} bytes; a description has at most {MAX_BYTES}")
    described = rules_of(parts, game, rules_version, seats, options)
    check_parts(described)
    return described


@lru_cache(maxsize=32)  # a bot plays many matches on few boards, and a game fills its tables meanwhile
def game_described(
    game: str, rules_version: int, seats: int, options: tuple[str, ...], board: str, parts: bytes = b""
) -> Game:
    """Return the game of a `start`, from the JSON texts of its board and of its parts, if it has any. Raise
    GameError, or BoardError."""
    try:
        described = _decode_parts(parts) if parts else UNSET
    except msgspec.DecodeError as error:
        raise GameError(f"parts: {error}") from None
    rules = rules_named(game, rules_version, seats, options, described)
    return make_game(rules, parse_board(board, "board"), seats, options)


def _described(name: str, value: Any) -> Any:  # Any: a field of any part, and of its record
    if value is None:
        return UNSET
    if isinstance(value, tuple):
        return tuple([_described(name, member) for member in cast("Sequence[Any]", value)])
    if isinstance(value, Mapping):
        return {str(key): _described(name, inner) for key, inner in cast("Mapping[int, Any]", value).items()}
    if name in SETS:
        return tuple(sorted(value))
    if name in FUNCTIONS:
        return next(word for word, function in FUNCTIONS[name].items() if function is value)
    if isinstance(value, bool | int | str):
        return value
    record = RECORDS.get(cast("type[object]", type(value)))
    if record is None:
        raise ValueError(f"{type(value).__name__} has no record in stellwerk_protocol.parts")
    return record(**{field: _described(field, getattr(value, field)) for field in record.__struct_fields__})


def _fields(record: Struct) -> dict[str, Any]:
    return {name: _made(name, value) for name, value in asdict(record).items()}


def _made(name: str, value: Any) -> Any:
    if value is UNSET:
        return None
    if name in SETS:
        return frozenset(value)
    if isinstance(value, tuple):
        return tuple([_made(name, member) for member in cast("Sequence[Any]", value)])
    if isinstance(value, dict):
        return {int(key): _made(name, inner) for key, inner in cast("dict[str, Any]", value).items()}
    if name in FUNCTIONS:
        return FUNCTIONS[name][value]
    return KINDS[type(value)](**_fields(value)) if isinstance(value, Struct) else value
