"""The parts of a game with their numbers, as data that every language reads.

`Parts` describes the rules of one match, its options already applied. A part is a chapter of a rule book; its
`part` says which one. The law: a field that is left out is 0, false or empty, so a game lists only what it
has. Bounds keep a description small enough for one line, and its games small enough to play. Whether the
parts fit each other and the board is for the engine to check.

`protocol/games.json` has the parts of the shipped games.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from stellwerk_protocol.names import END, BonusName, RegionName, TechnologyName

MAX_BYTES: Final = 4_000  # of a description, twice the longest shipped one: it is sent beside the board

PartCount = Annotated[int, Meta(title="PartCount", ge=0, le=100)]
OfferedTickets = Annotated[int, Meta(title="OfferedTickets", ge=1, le=7)]  # each choice of them is a move
KeptTickets = Annotated[int, Meta(title="KeptTickets", ge=0, le=7)]
PartPoints = Annotated[int, Meta(title="PartPoints", ge=-200, le=200)]
PartRegions = Annotated[tuple[RegionName, ...], Meta(max_length=8)]
PartLengths = Annotated[
    tuple[Annotated[int, Meta(title="PartLength", ge=1, le=12)], ...], Meta(max_length=12)
]
SeatsText = Annotated[str, Meta(title="SeatsText", pattern=r"^[1-6]" + END)]
TracksText = Annotated[str, Meta(title="TracksText", pattern=r"^[23]" + END)]
OpenTracks = Annotated[int, Meta(title="OpenTracks", ge=1, le=3)]
HalfCount = Annotated[int, Meta(title="HalfCount", ge=1, le=2)]
BoardFeature = Literal["map", "ferries", "tunnels", "long_tickets", "regions", "big_cities"]
StartOfTurn = Literal["send_cards"]
TieBreak = Literal["completed_tickets", "longest_own_path", "fewest_stations", "bonus_cards"]
BonusAmount = Literal["longest_path", "completed_tickets"]


class _Record(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    pass


class _Part(_Record, frozen=True, tag_field="part"):
    pass


class TrainCards(_Record, frozen=True):
    """How train cards are dealt and go round. `exchange_at` open locomotives make the market be exchanged.
    With `reshuffled` the discards become the pile when it is empty."""

    dealt: Annotated[int, Meta(ge=1, le=100)]
    locomotives_dealt: PartCount = 0
    exchange_at: PartCount = 0
    reshuffled: bool = False


# -- parts -------------------------------------------------------------------------------------------


class LongTickets(_Part, frozen=True, tag="long_tickets"):
    """Long tickets, so many for each player."""

    number: Annotated[int, Meta(ge=1, le=2)]


class FirstTickets(_Part, frozen=True, tag="first_tickets"):
    """The tickets dealt before the first turn. Those that a player does not keep leave the game
    (`remove_tickets`), are shuffled into the pile (`shuffle_returned`), or go under it."""

    number: OfferedTickets
    keep: KeptTickets
    share: Literal["ask_to_share"] | UnsetType = UNSET
    reject: Literal["remove_tickets"] | UnsetType = UNSET
    shuffle_returned: bool = False


class Holders(_Part, frozen=True, tag="holders"):
    """A card holder and shared tickets for each team."""


class DrawCards(_Part, frozen=True, tag="draw_cards"):
    """Draw two train cards. With `second_optional` one may be enough; with `to_holder` one of the two goes
    onto the team's holder."""

    second_optional: bool = False
    to_holder: bool = False


class ClaimRoute(_Part, frozen=True, tag="claim_route"):
    """Claim a route, tunnels and ferries too. `open_tracks`: by number of players and by number of tracks
    between two cities, how many of these can be claimed; all, where it has nothing."""

    open_tracks: dict[SeatsText, dict[TracksText, OpenTracks]] = {}


class DrawTickets(_Part, frozen=True, tag="draw_tickets"):
    """Draw so many tickets and keep some."""

    number: OfferedTickets
    keep: KeptTickets = 0
    share: Literal["ask_to_share"] | UnsetType = UNSET


class ShareTickets(_Part, frozen=True, tag="share_tickets"):
    """Move tickets of the own hand onto the team's holder."""


class BuildStation(_Part, frozen=True, tag="build_station"):
    """Build a station. Each player has so many, and gets points for each one left at the end."""

    number: Annotated[int, Meta(ge=1, le=5)]
    points_left: PartPoints = 0


class LayCards(_Part, frozen=True, tag="lay_cards"):
    """Lay cards into the rail yard."""


class RailYards(_Part, frozen=True, tag="rail_yards"):
    """A rail yard and an on-track stack for each player. `halves`: by number of players, how many halves a
    game has; one, where it has nothing. With `open_stacks` players may look at their own on-track stack."""

    halves: dict[SeatsText, HalfCount] = {}
    open_stacks: bool = False


class BuyTechnology(_Part, frozen=True, tag="buy_technology"):
    """Buy a technology before the action, at most one a turn. Any `substitute` cards count as a locomotive.
    Routes in `home_regions` need no concession, lengths in `home_lengths` no technology, and routes to
    `overseas_regions` none at all."""

    technologies: Annotated[tuple[Technology, ...], Meta(min_length=1, max_length=16)]
    substitute: Annotated[int, Meta(ge=2, le=10)]
    home_regions: PartRegions = ()
    home_lengths: PartLengths = ()
    overseas_regions: PartRegions = ()


class Technology(_Record, frozen=True):
    """One kind of technology, and what it brings its owner. `cost` is in locomotives; with `substitute` so
    many cards count as a locomotive, and `discount` cards fewer pay for a claim. Bought for `claims` claims
    in the same turn, or for one of a route that another player holds (`claims_taken`), it is returned
    afterwards. With `until_shuffle` it leaves the supply when the discards become the pile."""

    id: TechnologyName
    supply: Annotated[int, Meta(ge=1, le=100)]
    cost: Annotated[int, Meta(ge=1, le=10)]
    opens_regions: PartRegions = ()
    opens_lengths: PartLengths = ()
    opens_ferries: bool = False
    substitute: Annotated[int, Meta(ge=0, le=10)] = 0
    discount: Annotated[int, Meta(ge=0, le=10)] = 0
    draws_three: bool = False
    claims_taken: bool = False
    claims: Annotated[int, Meta(ge=0, le=4)] = 0
    route_points: PartPoints = 0
    ferry_points: PartPoints = 0
    until_shuffle: bool = False
    bonus: OwnersBonus | UnsetType = UNSET


# -- the end -----------------------------------------------------------------------------------------


class FewTrains(_Part, frozen=True, tag="few_trains"):
    """The last round begins when the team that moved has at most so many trains left."""

    trains: PartCount


class EmptyPile(_Part, frozen=True, tag="empty_pile"):
    """The last round begins when the pile of train cards is empty."""


class ForTheMost(_Part, frozen=True, tag="for_the_most"):
    """A bonus for the team with the most of something; each team that ties gets it."""

    name: BonusName
    points: PartPoints
    amount: BonusAmount


class Stake(_Part, frozen=True, tag="stake"):
    """Points that an owner wins with the most of something, and loses otherwise."""

    name: BonusName
    points: PartPoints
    amount: BonusAmount


class ForEachTicket(_Part, frozen=True, tag="for_each_ticket"):
    """A bonus for each completed ticket of an owner."""

    name: BonusName
    points: PartPoints


class BigCities(_Part, frozen=True, tag="big_cities"):
    """A bonus for each big city of the board, for the player who completed most tickets that name it."""


SetUpPart: TypeAlias = LongTickets | Holders | FirstTickets
MenuPart: TypeAlias = DrawCards | ClaimRoute | DrawTickets | ShareTickets | BuildStation | LayCards
LastRound: TypeAlias = FewTrains | EmptyPile
OwnersBonus: TypeAlias = Stake | ForEachTicket  # of a technology
PartBonus: TypeAlias = ForTheMost | OwnersBonus | BigCities


class Parts(_Record, frozen=True):
    """The parts of the game of a match. Seats beside each other play in teams of `team_size`. `set_up` is
    dealt in this order, after the train cards. A turn offers the actions of `menu`, and before them one of
    `before_action`. `tie_breaks` are looked at in this order."""

    team_size: Annotated[int, Meta(ge=1, le=3)]
    board_features: Annotated[tuple[BoardFeature, ...], Meta(max_length=6)]
    train_cards: TrainCards
    set_up: Annotated[tuple[SetUpPart, ...], Meta(min_length=1, max_length=3)]
    menu: Annotated[tuple[MenuPart, ...], Meta(min_length=1, max_length=6)]
    last_round: LastRound
    start_of_turn: Annotated[tuple[StartOfTurn, ...], Meta(max_length=1)] = ()
    before_action: Annotated[tuple[BuyTechnology, ...], Meta(max_length=1)] = ()
    other_parts: Annotated[tuple[RailYards, ...], Meta(max_length=1)] = ()
    bonuses: Annotated[tuple[PartBonus, ...], Meta(max_length=8)] = ()
    tie_breaks: Annotated[tuple[TieBreak, ...], Meta(max_length=4)] = ()
