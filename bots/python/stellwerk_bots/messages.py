"""The messages of the protocol as types, for editors and type checkers.

The law: this file says what the JSON Schema says, under the same names, and `make generate` writes it. A
message is the dict that `json` reads: these types change nothing at run time. Fields that not every game has,
or that not every viewer may see, are NotRequired: look with `in`, or use `get`. The client asks for views and
legal moves in each login, so an `Ask` has both.
"""

from typing import Literal, NotRequired, TypeAlias, TypedDict

WholeNumber: TypeAlias = int  # 0 to 2**53 - 1

ShortText: TypeAlias = str  # 0 to 200 characters

Milliseconds: TypeAlias = int  # 0 to 2**53 - 1


class Limits(TypedDict):
    """The limits for a client, as set on this server (`protocol/README.md` explains each)."""

    line_before_login: WholeNumber
    line: WholeNumber
    depth: WholeNumber
    login_ms: Milliseconds
    messages_a_second: WholeNumber
    burst: WholeNumber
    unsent_bytes: WholeNumber
    unsent_ms: Milliseconds


OptionName: TypeAlias = str  # 0 to 32 characters, ^[a-z0-9][a-z0-9_]*$


class Hello(TypedDict):
    """The first line of a connection, from the server."""

    type: Literal["hello"]
    protocols: list[WholeNumber]
    server: ShortText
    limits: Limits
    features: list[OptionName]


Id: TypeAlias = str  # 1 to 64 characters, ^[A-Za-z0-9_-]+$

Secret: TypeAlias = str  # 1 to 256 characters, ^[!-~]+$

PlayerName: TypeAlias = str  # 0 to 32 characters, ^[A-Za-z0-9][A-Za-z0-9_.-]*$


class Wants(TypedDict):
    """The parts that a client wants in its asks, and whether it wants events. The default is everything."""

    legal: NotRequired[bool]
    view: NotRequired[bool]
    events: NotRequired[bool]


GameName: TypeAlias = str  # 1 to 32 characters, ^[a-z0-9][a-z0-9_]*$

Digits: TypeAlias = str  # ^[0-9a-f]{64}$

SeatCount: TypeAlias = int  # 2 to 6


class OfferedGame(TypedDict):
    game: GameName
    title: ShortText
    rules_version: WholeNumber
    board: Id
    board_digest: Digits
    players: list[SeatCount]
    options: list[OptionName]


class Welcome(TypedDict):
    """The answer to an accepted login. `resume_key` is valid until the first line after the next
    `welcome`."""

    type: Literal["welcome"]
    session: Id
    resume_key: Secret
    name: PlayerName
    wants: Wants
    games: list[OfferedGame]


Count: TypeAlias = int  # 0 to 1000000


class Joined(TypedDict):
    """The state of a room. Its match starts when no player is `missing`. Sent again whenever that number
    changes. `request` is that of this client's `join`."""

    type: Literal["joined"]
    room: Id
    missing: Count
    request: NotRequired[Id]


class Left(TypedDict):
    """The answer to `leave`, or the end of a room that was not filled. No more messages about it follow."""

    type: Literal["left"]
    room: NotRequired[Id]
    match: NotRequired[Id]


Viewer: TypeAlias = Literal["all_hands", "public", "seat"]

Seat: TypeAlias = int  # 0 to 5

Team: TypeAlias = int  # 0 to 5


class Player(TypedDict):
    seat: Seat
    team: Team
    name: PlayerName


DisplayName: TypeAlias = str  # 1 to 40 characters

CardCount: TypeAlias = int  # 1 to 60

CityName: TypeAlias = str  # 1 to 32 characters, ^[a-z0-9][a-z0-9_]*$

Coordinate: TypeAlias = float  # 0 to 1000

RegionName: TypeAlias = str  # 1 to 32 characters, ^[a-z0-9][a-z0-9_]*$


class City(TypedDict):
    """A city, or a `junction` where routes meet. `x` and `y` are for drawings."""

    id: CityName
    name: DisplayName
    x: NotRequired[Coordinate]
    y: NotRequired[Coordinate]
    region: NotRequired[RegionName]
    junction: NotRequired[bool]


TicketName: TypeAlias = str  # 1 to 72 characters, ^[a-z0-9][a-z0-9_-]*$

BoardPoints: TypeAlias = int  # 1 to 200

Color: TypeAlias = Literal[
    "black",
    "blue",
    "green",
    "locomotive",
    "orange",
    "purple",
    "red",
    "white",
    "yellow",
]

Cards: TypeAlias = dict[Color, CardCount]
"""`{"red": 3, "locomotive": 1}`; a missing color counts as 0, and a 0 is never written."""


class Ticket(TypedDict):
    """Two cities, or groups of cities, to connect. `cards` is the price if the board has no routes. Some
    games deal the `long` tickets apart from the others."""

    id: TicketName
    a: CityName
    b: CityName
    points: BoardPoints
    cards: NotRequired[Cards]
    long: NotRequired[bool]
    doubtful: NotRequired[bool]


LengthText: TypeAlias = str  # ^([1-9]|1[0-2])$

RouteName: TypeAlias = str  # 1 to 72 characters, ^[a-z0-9][a-z0-9_-]*$

RouteLength: TypeAlias = int  # 1 to 12

RouteColor: TypeAlias = Literal[
    "black",
    "blue",
    "gray",
    "green",
    "orange",
    "purple",
    "red",
    "white",
    "yellow",
]


class Route(TypedDict):
    """One track. A double route is two records, each with `parallel` 2."""

    id: RouteName
    a: CityName
    b: CityName
    length: RouteLength
    color: RouteColor
    locomotives: NotRequired[int]
    tunnel: NotRequired[int]
    parallel: NotRequired[int]
    always_open: NotRequired[bool]
    doubtful: NotRequired[bool]


CityGroup: TypeAlias = list[CityName]


class Board(TypedDict):
    """A board: with routes, `trains` and `route_points`, or with `cards` on its tickets."""

    format: Literal["stellwerk-board/1"]
    id: GameName
    title: DisplayName
    provenance: str
    cards_each_color: CardCount
    locomotives: int
    cities: list[City]
    tickets: list[Ticket]
    trains: NotRequired[int]
    route_points: NotRequired[dict[LengthText, BoardPoints]]
    routes: NotRequired[list[Route]]
    city_groups: NotRequired[dict[CityName, CityGroup]]
    big_cities: NotRequired[dict[CityName, BoardPoints]]


class Clocks(TypedDict):
    """The clocks of a match: see `protocol/README.md`, Time."""

    set_up_ms: Milliseconds
    move_ms: Milliseconds
    bank_ms: Milliseconds
    grace_ms: Milliseconds
    strikes: WholeNumber
    tries: WholeNumber
    defaults_in_a_row: WholeNumber
    defaults: WholeNumber


TechnologyName: TypeAlias = str  # 1 to 32 characters, ^[a-z0-9][a-z0-9_]*$


class TechnologyForSale(TypedDict):
    """A technology for sale. A route needs it if one of its cities is in one of `regions`, if its length is
    one of `lengths`, or, with `ferries`, if it is a ferry. `price` is in locomotives."""

    technology: TechnologyName
    supply: Count
    price: Count
    regions: NotRequired[list[RegionName]]
    lengths: NotRequired[list[Count]]
    ferries: NotRequired[bool]


PartsBoardFeatures: TypeAlias = Literal["big_cities", "ferries", "long_tickets", "map", "regions", "tunnels"]

PartCount: TypeAlias = int  # 0 to 100


class TrainCardsPart(TypedDict):
    """How train cards are dealt and go round. `exchange_at` open locomotives make the market be exchanged.
    With `reshuffled` the discards become the pile when it is empty."""

    dealt: int
    locomotives_dealt: NotRequired[PartCount]
    exchange_at: NotRequired[PartCount]
    reshuffled: NotRequired[bool]


class LongTicketsPart(TypedDict):
    """Long tickets, so many for each player."""

    part: Literal["long_tickets"]
    number: int


class HoldersPart(TypedDict):
    """A card holder and shared tickets for each team."""

    part: Literal["holders"]


OfferedTickets: TypeAlias = int  # 1 to 7

KeptTickets: TypeAlias = int  # 0 to 7


class FirstTicketsPart(TypedDict):
    """The tickets dealt before the first turn. Those that a player does not keep leave the game
    (`remove_tickets`), are shuffled into the pile (`shuffle_returned`), or go under it."""

    part: Literal["first_tickets"]
    number: OfferedTickets
    keep: KeptTickets
    share: NotRequired[Literal["ask_to_share"]]
    reject: NotRequired[Literal["remove_tickets"]]
    shuffle_returned: NotRequired[bool]


SetUpPart: TypeAlias = LongTicketsPart | HoldersPart | FirstTicketsPart


class DrawCardsPart(TypedDict):
    """Draw two train cards. With `second_optional` one may be enough; with `to_holder` one of the two goes
    onto the team's holder."""

    part: Literal["draw_cards"]
    second_optional: NotRequired[bool]
    to_holder: NotRequired[bool]


OpenTracks: TypeAlias = int  # 1 to 3

TracksText: TypeAlias = str  # ^[23]$

SeatsText: TypeAlias = str  # ^[1-6]$


class ClaimRoutePart(TypedDict):
    """Claim a route, tunnels and ferries too. `open_tracks`: by number of players and by number of tracks
    between two cities, how many of these can be claimed; all, where it has nothing."""

    part: Literal["claim_route"]
    open_tracks: NotRequired[dict[SeatsText, dict[TracksText, OpenTracks]]]


class DrawTicketsPart(TypedDict):
    """Draw so many tickets and keep some."""

    part: Literal["draw_tickets"]
    number: OfferedTickets
    keep: NotRequired[KeptTickets]
    share: NotRequired[Literal["ask_to_share"]]


class ShareTicketsPart(TypedDict):
    """Move tickets of the own hand onto the team's holder."""

    part: Literal["share_tickets"]


PartPoints: TypeAlias = int  # -200 to 200


class BuildStationPart(TypedDict):
    """Build a station. Each player has so many, and gets points for each one left at the end."""

    part: Literal["build_station"]
    number: int
    points_left: NotRequired[PartPoints]


class LayCardsPart(TypedDict):
    """Lay cards into the rail yard."""

    part: Literal["lay_cards"]


MenuPart: TypeAlias = (
    DrawCardsPart | ClaimRoutePart | DrawTicketsPart | ShareTicketsPart | BuildStationPart | LayCardsPart
)


class FewTrainsPart(TypedDict):
    """The last round begins when the team that moved has at most so many trains left."""

    part: Literal["few_trains"]
    trains: PartCount


class EmptyPilePart(TypedDict):
    """The last round begins when the pile of train cards is empty."""

    part: Literal["empty_pile"]


LastRoundPart: TypeAlias = FewTrainsPart | EmptyPilePart

PartLength: TypeAlias = int  # 1 to 12

BonusName: TypeAlias = str  # 1 to 64 characters, ^[a-z0-9][a-z0-9_:]*$

BonusAmount: TypeAlias = Literal["completed_tickets", "longest_path"]


class StakePart(TypedDict):
    """Points that an owner wins with the most of something, and loses otherwise."""

    part: Literal["stake"]
    name: BonusName
    points: PartPoints
    amount: BonusAmount


class ForEachTicketPart(TypedDict):
    """A bonus for each completed ticket of an owner."""

    part: Literal["for_each_ticket"]
    name: BonusName
    points: PartPoints


OwnersBonusPart: TypeAlias = StakePart | ForEachTicketPart


class TechnologyPart(TypedDict):
    """One kind of technology, and what it brings its owner. `cost` is in locomotives; with `substitute` so
    many cards count as a locomotive, and `discount` cards fewer pay for a claim. Bought for `claims` claims
    in the same turn, or for one of a route that another player holds (`claims_taken`), it is returned
    afterwards. With `until_shuffle` it leaves the supply when the discards become the pile."""

    id: TechnologyName
    supply: int
    cost: int
    opens_regions: NotRequired[list[RegionName]]
    opens_lengths: NotRequired[list[PartLength]]
    opens_ferries: NotRequired[bool]
    substitute: NotRequired[int]
    discount: NotRequired[int]
    draws_three: NotRequired[bool]
    claims_taken: NotRequired[bool]
    claims: NotRequired[int]
    route_points: NotRequired[PartPoints]
    ferry_points: NotRequired[PartPoints]
    until_shuffle: NotRequired[bool]
    bonus: NotRequired[OwnersBonusPart]


class BuyTechnologyPart(TypedDict):
    """Buy a technology before the action, at most one a turn. Any `substitute` cards count as a locomotive.
    Routes in `home_regions` need no concession, lengths in `home_lengths` no technology, and routes to
    `overseas_regions` none at all."""

    part: Literal["buy_technology"]
    technologies: list[TechnologyPart]
    substitute: int
    home_regions: NotRequired[list[RegionName]]
    home_lengths: NotRequired[list[PartLength]]
    overseas_regions: NotRequired[list[RegionName]]


HalfCount: TypeAlias = int  # 1 to 2


class RailYardsPart(TypedDict):
    """A rail yard and an on-track stack for each player. `halves`: by number of players, how many halves a
    game has; one, where it has nothing. With `open_stacks` players may look at their own on-track stack."""

    part: Literal["rail_yards"]
    halves: NotRequired[dict[SeatsText, HalfCount]]
    open_stacks: NotRequired[bool]


class ForTheMostPart(TypedDict):
    """A bonus for the team with the most of something; each team that ties gets it."""

    part: Literal["for_the_most"]
    name: BonusName
    points: PartPoints
    amount: BonusAmount


class BigCitiesPart(TypedDict):
    """A bonus for each big city of the board, for the player who completed most tickets that name it."""

    part: Literal["big_cities"]


BonusPart: TypeAlias = ForTheMostPart | StakePart | ForEachTicketPart | BigCitiesPart

PartsTieBreaks: TypeAlias = Literal["bonus_cards", "completed_tickets", "fewest_stations", "longest_own_path"]


class Parts(TypedDict):
    """The parts of the game of a match. Seats beside each other play in teams of `team_size`. `set_up` is
    dealt in this order, after the train cards. A turn offers the actions of `menu`, and before them one of
    `before_action`. `tie_breaks` are looked at in this order."""

    team_size: int
    board_features: list[PartsBoardFeatures]
    train_cards: TrainCardsPart
    set_up: list[SetUpPart]
    menu: list[MenuPart]
    last_round: LastRoundPart
    start_of_turn: NotRequired[list[Literal["send_cards"]]]
    before_action: NotRequired[list[BuyTechnologyPart]]
    other_parts: NotRequired[list[RailYardsPart]]
    bonuses: NotRequired[list[BonusPart]]
    tie_breaks: NotRequired[list[PartsTieBreaks]]


class Start(TypedDict):
    """The beginning of a match. `seat` is the client's own; a spectator has none. `board` is the content of a
    board file. `technologies` are those for sale, in games that have technologies. `parts` are those of a
    game that is not in `protocol/games.json`. `request` is that of the `join` or `watch` that it answers."""

    type: Literal["start"]
    match: Id
    viewer: Viewer
    players: list[Player]
    game: GameName
    rules_version: WholeNumber
    options: list[OptionName]
    board: Board
    board_digest: Digits
    clocks: Clocks
    commitment: Digits
    seat: Seat
    technologies: NotRequired[list[TechnologyForSale]]
    parts: NotRequired[Parts]
    request: NotRequired[Id]


class PileShuffled(TypedDict):
    """A new pile: `count` cards, face down; the discards are empty. The pile has no other cards than
    `may_hold` (which is exact, except after the card game's first half)."""

    type: Literal["pile_shuffled"]
    count: Count
    may_hold: Cards


class CardsLaidOpen(TypedDict):
    """Cards that went from the pile into the market."""

    type: Literal["cards_laid_open"]
    cards: Cards


class MarketExchanged(TypedDict):
    """All open cards, discarded because three of them were locomotives (USA-06)."""

    type: Literal["market_exchanged"]
    cards: Cards


class CardsRevealed(TypedDict):
    """Cards from the pile, revealed for a tunnel. They are not discards until the attempt ends (ASIA-24)."""

    type: Literal["cards_revealed"]
    cards: Cards


class CardsDealt(TypedDict):
    """Cards dealt from the pile into a hand; `cards` is private to the seat."""

    type: Literal["cards_dealt"]
    seat: Seat
    count: Count
    cards: NotRequired[Cards]


class LocomotiveDealt(TypedDict):
    """An open locomotive, dealt before the pile was shuffled (CARD-02, UK-02)."""

    type: Literal["locomotive_dealt"]
    seat: Seat


class TicketPileShuffled(TypedDict):
    type: Literal["ticket_pile_shuffled"]
    count: Count


class TurnStarted(TypedDict):
    """The start of a turn: the seat owes `take_turn`. `passes` is the number of turns in a row before it that
    were passed. `turns_left` is present in the last round and counts this turn."""

    type: Literal["turn_started"]
    seat: Seat
    turn: Count
    passes: NotRequired[Count]
    turns_left: NotRequired[Count]


class KeepTicketsDecision(TypedDict):
    """The offered tickets to keep: at least `keep`. Answer: `keep_tickets`."""

    type: Literal["keep_tickets"]
    seats: list[Seat]
    offered_count: Count
    keep: Count


class ShareTicketDecision(TypedDict):
    """The ticket of those in `offered` to put on the team's holder. `offered_counts` has their number for
    each of `seats`. Answer: `share_tickets` with one."""

    type: Literal["share_ticket"]
    seats: list[Seat]
    offered_counts: list[Count]


class TakeTurnDecision(TypedDict):
    """The action of a turn; in games with technologies, `buy_technology` may come before it."""

    type: Literal["take_turn"]
    seats: list[Seat]


class TakeActionDecision(TypedDict):
    """The action of a turn, after a technology was bought."""

    type: Literal["take_action"]
    seats: list[Seat]


Place: TypeAlias = Literal["hand", "holder"]


class SecondCardDecision(TypedDict):
    """The second train card, which goes to `place`. Answer: `draw_card`, `take_card`, or, if `may_stop`,
    `stop`."""

    type: Literal["second_card"]
    seats: list[Seat]
    place: Place
    may_stop: bool


class PlaceCardDecision(TypedDict):
    """The place of the first card. `card` is private to the seat unless it was taken from the market
    (`open`). Answer: `place_card`."""

    type: Literal["place_card"]
    seats: list[Seat]
    open: bool
    card: NotRequired[Color]


class ClaimRouteDecision(TypedDict):
    """A claim that a technology just bought allows, one of `claims_left`; with `right_of_way`, of a route
    that others hold. Answer: `claim_route`, or, if `may_stop`, `stop`."""

    type: Literal["claim_route"]
    seats: list[Seat]
    technology: TechnologyName
    claims_left: Count
    right_of_way: bool
    may_stop: bool


class PayTunnelDecision(TypedDict):
    """The choice whether to add `extra` cards for the tunnel. Answer: `pay_tunnel` or `abandon_tunnel`."""

    type: Literal["pay_tunnel"]
    seats: list[Seat]
    route: RouteName
    cards: Cards
    holder_cards: Cards
    revealed: Cards
    extra: Count


EndReason: TypeAlias = Literal["all_passed", "idle", "pile", "trains"]


class CompleteTicketsDecision(TypedDict):
    """The tickets to complete with the on-track stack. `reason` is why the turns have ended. Answer:
    `complete_tickets`."""

    type: Literal["complete_tickets"]
    seats: list[Seat]
    reason: EndReason


Decision: TypeAlias = (
    KeepTicketsDecision
    | ShareTicketDecision
    | TakeTurnDecision
    | TakeActionDecision
    | SecondCardDecision
    | PlaceCardDecision
    | ClaimRouteDecision
    | PayTunnelDecision
    | CompleteTicketsDecision
)


class Asked(TypedDict):
    """A decision that the game waits for (`turn_started` implies `take_turn`). The card of a `place_card` is
    private to the seat unless it is `open`."""

    type: Literal["asked"]
    decision: Decision


class Passed(TypedDict):
    type: Literal["passed"]
    seat: Seat


class Stopped(TypedDict):
    """The seat's refusal of a second card or a second claim."""

    type: Literal["stopped"]
    seat: Seat


class LastRound(TypedDict):
    type: Literal["last_round"]
    turns_left: Count


class TurnsEnded(TypedDict):
    """The end of all turns before the scoring, of the game or of its first half. `passes` and `turns_left`
    are those after the last turn, as in `turn_started`."""

    type: Literal["turns_ended"]
    reason: EndReason
    passes: NotRequired[Count]
    turns_left: NotRequired[Count]


Rank: TypeAlias = int  # 1 to 6

Points: TypeAlias = int  # -1000000 to 1000000


class TicketScore(TypedDict):
    ticket: TicketName
    completed: bool
    points: Points


class Bonus(TypedDict):
    bonus: BonusName
    points: Points


class Station(TypedDict):
    """A station that was built, and the route that it uses, if any (EUR-12)."""

    city: CityName
    route: NotRequired[RouteName]


class TeamResult(TypedDict):
    """The result of a team. `points` is the sum of `route_points` and the points of all tickets and bonuses.
    Only games with stations have `stations`."""

    team: Team
    seats: list[Seat]
    rank: Rank
    points: Points
    route_points: Points
    tickets: list[TicketScore]
    bonuses: list[Bonus]
    completed_tickets: Count
    longest_path: Count
    stations: NotRequired[list[Station]]


class Result(TypedDict):
    """The result of a game. `ranks` has a rank for each seat: partners have the rank of their team
    (GEN-07)."""

    reason: EndReason
    turns: Count
    ranks: list[Rank]
    teams: list[TeamResult]


class GameEnded(TypedDict):
    type: Literal["game_ended"]
    result: Result


class CardTaken(TypedDict):
    """An open card, taken from the market. Without `place`, the player decides it next (ASIA-06)."""

    type: Literal["card_taken"]
    seat: Seat
    card: Color
    place: NotRequired[Place]


class CardDrawn(TypedDict):
    """A card from the pile, drawn blind; `card` is private to the seat (to the team on the holder). Without
    `place`, the player decides it next."""

    type: Literal["card_drawn"]
    seat: Seat
    place: NotRequired[Place]
    card: NotRequired[Color]


class CardPlaced(TypedDict):
    """The place of the first card. `card` is private as in `card_drawn`, unless it was taken from the market
    (`open`)."""

    type: Literal["card_placed"]
    seat: Seat
    place: Place
    open: bool
    card: NotRequired[Color]


class RouteClaimed(TypedDict):
    """A claim. `cards` from the hand, `holder_cards` from the team's holder and `revealed` (of a tunnel) are
    discarded together; `trains` are placed; `points` are scored at once."""

    type: Literal["route_claimed"]
    seat: Seat
    route: RouteName
    trains: Count
    points: Points
    cards: NotRequired[Cards]
    holder_cards: NotRequired[Cards]
    revealed: NotRequired[Cards]


class TunnelTried(TypedDict):
    """An attempt at a tunnel. The cards laid stay in hand and holder until it ends; the player must pay
    `extra` more."""

    type: Literal["tunnel_tried"]
    seat: Seat
    route: RouteName
    extra: Count
    cards: NotRequired[Cards]
    holder_cards: NotRequired[Cards]
    revealed: NotRequired[Cards]


class TunnelAbandoned(TypedDict):
    """The end of an attempt. The cards laid were shown and stay where they were; `revealed` is discarded."""

    type: Literal["tunnel_abandoned"]
    seat: Seat
    route: RouteName
    cards: NotRequired[Cards]
    holder_cards: NotRequired[Cards]
    revealed: NotRequired[Cards]


class TicketsOffered(TypedDict):
    """Tickets from the ticket pile to choose from; `tickets` is private to the seat."""

    type: Literal["tickets_offered"]
    seat: Seat
    count: Count
    tickets: NotRequired[list[TicketName]]


class TicketsKept(TypedDict):
    """The tickets kept; the others went back. `tickets` and `returned` are private to the seat."""

    type: Literal["tickets_kept"]
    seat: Seat
    count: Count
    returned_count: Count
    tickets: NotRequired[list[TicketName]]
    returned: NotRequired[list[TicketName]]


class TicketsRemoved(TypedDict):
    """Out of the game (EUR-03): offered to the `seat` and not kept, or, without a seat, left in the pile of
    long tickets. `tickets` is private to the seat; without one only a viewer of all hands gets it."""

    type: Literal["tickets_removed"]
    count: Count
    seat: NotRequired[Seat]
    tickets: NotRequired[list[TicketName]]


class TicketsToShare(TypedDict):
    """Tickets of which one goes on the team's holder; `tickets` is private to the seat."""

    type: Literal["tickets_to_share"]
    seat: Seat
    count: Count
    tickets: NotRequired[list[TicketName]]


class TicketsShared(TypedDict):
    """Tickets that went from the seat to the team's holder; `tickets` is private to the team."""

    type: Literal["tickets_shared"]
    seat: Seat
    count: Count
    tickets: NotRequired[list[TicketName]]


class CardsSent(TypedDict):
    """One card of each color in the seat's yard, locomotives first, moved onto its on-track stack
    (CARD-04)."""

    type: Literal["cards_sent"]
    seat: Seat
    cards: Cards


class CardsLaid(TypedDict):
    """Cards that went from the hand into the seat's rail yard. Locomotives lie on the one color laid with
    them."""

    type: Literal["cards_laid"]
    seat: Seat
    cards: Cards


class Raided(TypedDict):
    """This seat's cards of `color` in the yard, discarded together with the locomotives on them (CARD-10)."""

    type: Literal["raided"]
    seat: Seat
    color: Color
    cards: Cards


class StackTakenUp(TypedDict):
    """The seat's on-track stack, which it may now look at; `cards` is private to the seat."""

    type: Literal["stack_taken_up"]
    seat: Seat
    count: Count
    cards: NotRequired[Cards]


class TicketsCompleted(TypedDict):
    type: Literal["tickets_completed"]
    seat: Seat
    tickets: list[TicketName]
    points: Points


class HalfStarted(TypedDict):
    """The start of a half. Yards, stacks and discards are empty; their cards are in the pile that is shuffled
    next (CARD-15)."""

    type: Literal["half_started"]
    half: Count


class TechnologyBought(TypedDict):
    type: Literal["technology_bought"]
    seat: Seat
    technology: TechnologyName
    cards: Cards


class TechnologyReturned(TypedDict):
    """A technology that went back to the supply after its claims (UK-21, UK-22)."""

    type: Literal["technology_returned"]
    seat: Seat
    technology: TechnologyName


class TechnologiesWithdrawn(TypedDict):
    """Technologies that left the supply because nobody bought them in time (UK-26)."""

    type: Literal["technologies_withdrawn"]
    technologies: list[TechnologyName]


class StationBuilt(TypedDict):
    """The cards are discarded (EUR-10)."""

    type: Literal["station_built"]
    seat: Seat
    city: CityName
    cards: Cards


Event: TypeAlias = (
    PileShuffled
    | CardsLaidOpen
    | MarketExchanged
    | CardsRevealed
    | CardsDealt
    | LocomotiveDealt
    | TicketPileShuffled
    | TurnStarted
    | Asked
    | Passed
    | Stopped
    | LastRound
    | TurnsEnded
    | GameEnded
    | CardTaken
    | CardDrawn
    | CardPlaced
    | RouteClaimed
    | TunnelTried
    | TunnelAbandoned
    | TicketsOffered
    | TicketsKept
    | TicketsRemoved
    | TicketsToShare
    | TicketsShared
    | CardsSent
    | CardsLaid
    | Raided
    | StackTakenUp
    | TicketsCompleted
    | HalfStarted
    | TechnologyBought
    | TechnologyReturned
    | TechnologiesWithdrawn
    | StationBuilt
)


class EventMessage(TypedDict):
    """One fact, as this viewer may know it, numbered from 1 for each viewer of a match."""

    type: Literal["event"]
    match: Id
    number: WholeNumber
    event: Event


class DrawCard(TypedDict):
    """A blind draw of the top card of the pile."""

    type: Literal["draw_card"]


class TakeCard(TypedDict):
    """An open card of this color, taken from the market."""

    type: Literal["take_card"]
    card: Color


class DrawThree(TypedDict):
    """Three blind draws instead of two, with Water Tenders (UK-23)."""

    type: Literal["draw_three"]


class PlaceCard(TypedDict):
    """The place of the first card drawn; the second goes to the other place (ASIA-06)."""

    type: Literal["place_card"]
    place: Place


class ClaimRoute(TypedDict):
    """A claim of a route for exactly these cards, from the hand and from the team's holder."""

    type: Literal["claim_route"]
    route: RouteName
    cards: NotRequired[Cards]
    holder_cards: NotRequired[Cards]


class PayTunnel(TypedDict):
    """Cards added to those laid for the tunnel."""

    type: Literal["pay_tunnel"]
    cards: NotRequired[Cards]
    holder_cards: NotRequired[Cards]


class AbandonTunnel(TypedDict):
    """The end of a tunnel attempt: the cards laid come back, and the turn is over."""

    type: Literal["abandon_tunnel"]


class Stop(TypedDict):
    """A refusal of the second card (CARD-07) or of the second claim that the Thermocompressor allows
    (UK-22)."""

    type: Literal["stop"]


class DrawTickets(TypedDict):
    """A draw of tickets to choose from."""

    type: Literal["draw_tickets"]


class KeepTickets(TypedDict):
    """The offered tickets to keep; the others go back."""

    type: Literal["keep_tickets"]
    tickets: list[TicketName]


class ShareTickets(TypedDict):
    """One or two secret tickets to put on the team's holder (ASIA-09 to ASIA-11)."""

    type: Literal["share_tickets"]
    tickets: list[TicketName]


class LayCards(TypedDict):
    """Cards to lay into your own rail yard: a set of one color, or three of three colors (CARD-08)."""

    type: Literal["lay_cards"]
    cards: Cards


class CompleteTickets(TypedDict):
    """Tickets to complete with the cards of your own on-track stack (CARD-13)."""

    type: Literal["complete_tickets"]
    tickets: list[TicketName]


class BuyTechnology(TypedDict):
    """A purchase of a technology for exactly these cards, before the action of the turn (UK-09)."""

    type: Literal["buy_technology"]
    technology: TechnologyName
    cards: Cards


class BuildStation(TypedDict):
    """Lay exactly these cards for a station in the city (EUR-10)."""

    type: Literal["build_station"]
    city: CityName
    cards: Cards


class Pass(TypedDict):
    """A turn without an action, for a player who has no legal one (GEN-05)."""

    type: Literal["pass"]


Move: TypeAlias = (
    DrawCard
    | TakeCard
    | DrawThree
    | PlaceCard
    | ClaimRoute
    | PayTunnel
    | AbandonTunnel
    | Stop
    | DrawTickets
    | KeepTickets
    | ShareTickets
    | LayCards
    | CompleteTickets
    | BuyTechnology
    | BuildStation
    | Pass
)


class YardStack(TypedDict):
    """One color in a rail yard: `cards` of that color and the `locomotives` lying on them."""

    color: Color
    cards: Count
    locomotives: Count


class PlayerView(TypedDict):
    """One player. `known_cards` is the part of the hand that everybody saw taken and that was not played
    since."""

    seat: Seat
    team: Team
    points: Points
    hand_count: Count
    known_cards: Cards
    ticket_count: Count
    trains: NotRequired[Count]
    routes: NotRequired[list[RouteName]]
    technologies: NotRequired[list[TechnologyName]]
    stations: NotRequired[list[CityName]]
    stations_left: NotRequired[Count]
    removed_count: NotRequired[Count]
    yard: NotRequired[list[YardStack]]
    stack_count: NotRequired[Count]
    completed: NotRequired[list[TicketName]]
    hand: NotRequired[Cards]
    tickets: NotRequired[list[TicketName]]
    offered: NotRequired[list[TicketName]]
    returned: NotRequired[list[TicketName]]
    stack: NotRequired[Cards]
    removed: NotRequired[list[TicketName]]


class TeamView(TypedDict):
    """A team's holders. `holder` and `shared_tickets` are private to the team."""

    team: Team
    holder_count: Count
    known_holder: Cards
    shared_count: Count
    holder: NotRequired[Cards]
    shared_tickets: NotRequired[list[TicketName]]


class View(TypedDict):
    """A view. The pile has no other cards than `pile_may_hold`; those of it that are not in the pile were
    drawn blind (after the card game's first half some were already in hands). `progress_turn` and `passes`
    count towards an early end (GEN-05, GEN-06)."""

    game: GameName
    viewer: Viewer
    turn: Count
    progress_turn: Count
    passes: Count
    market: Cards
    pile: Count
    pile_may_hold: Cards
    discards: Cards
    ticket_pile: Count
    players: list[PlayerView]
    seat: Seat
    teams: NotRequired[list[TeamView]]
    supply: NotRequired[dict[TechnologyName, Count]]
    half: NotRequired[Count]
    removed_tickets: NotRequired[Count]
    turns_left: NotRequired[Count]
    pending: Decision
    result: NotRequired[Result]


class Ask(TypedDict):
    """A question to this seat, for which the match waits. `view` and `legal` are present as granted. `index`
    counts from 0 in `legal`, whether or not it is sent. `fallback` is the move that the server makes if no
    act is accepted."""

    type: Literal["ask"]
    match: Id
    ask: WholeNumber
    after_event: WholeNumber
    decision: Decision
    move_ms: Milliseconds
    bank_ms: Milliseconds
    tries: WholeNumber
    fallback: Move
    view: View
    legal: list[Move]
    legal_complete: bool


class Ok(TypedDict):
    """The answer to an accepted act."""

    type: Literal["ok"]
    match: Id
    ask: WholeNumber
    took_ms: Milliseconds
    bank_ms: Milliseconds


ErrorCode: TypeAlias = Literal[
    "game.missing_technology",
    "game.not_asked",
    "game.not_available",
    "game.not_enough_cards",
    "game.not_enough_trains",
    "game.over",
    "game.route_taken",
    "game.unknown_name",
    "game.wrong_cards",
    "game.wrong_move",
    "game.wrong_payment",
    "game.wrong_tickets",
    "protocol.missing_field",
    "protocol.not_an_object",
    "protocol.unknown_field",
    "protocol.unknown_type",
    "protocol.wrong_value",
    "wire.bad_number",
    "wire.duplicate_name",
    "wire.not_json",
    "wire.not_utf8",
    "wire.too_deep",
    "wire.too_long",
    "auth.bad_resume_key",
    "auth.bad_token",
    "auth.login_timeout",
    "auth.name_taken",
    "auth.not_allowed",
    "auth.token_needs_tls",
    "protocol.no_such_match",
    "protocol.no_such_room",
    "protocol.out_of_phase",
    "protocol.stale_ask",
    "protocol.too_fast",
    "protocol.too_many_matches",
    "protocol.version",
    "server.busy",
    "server.failed",
    "server.full",
    "server.shutting_down",
    "server.taken_over",
    "server.too_slow",
]


class ErrorMessage(TypedDict):
    """The answer to a refused line, which changed nothing. `pointer` is a JSON Pointer into it. With `ask`,
    an act was refused: `tries` is the number of tries left, and `nearest` is a similar legal move. `retry_ms`
    is when the same line may succeed. `request` is that of a refused `join` or `watch`."""

    type: Literal["error"]
    code: ErrorCode
    expected: ShortText
    pointer: NotRequired[ShortText]
    match: NotRequired[Id]
    ask: NotRequired[WholeNumber]
    tries: NotRequired[WholeNumber]
    nearest: NotRequired[Move]
    retry_ms: NotRequired[Milliseconds]
    request: NotRequired[Id]


DefaultReason: TypeAlias = Literal["by_default", "disconnected", "left", "time", "tries"]


class Default(TypedDict):
    """A move that the server made for this seat, with the reason. With `by_default`, the server moves for the
    seat at once from now on."""

    type: Literal["default"]
    match: Id
    ask: WholeNumber
    reason: DefaultReason
    move: Move
    defaults: Count
    by_default: NotRequired[bool]


SeatChangedState: TypeAlias = Literal["back", "by_default", "left", "lost"]


class SeatChanged(TypedDict):
    """A change of another seat: its connection is lost or back, it left for good, or it plays by default."""

    type: Literal["seat"]
    match: Id
    seat: Seat
    state: SeatChangedState


EndReveal: TypeAlias = Literal["later", "now"]


class End(TypedDict):
    """The end of a match. Seed and salt open the commitment, at once or `later`: when no match with the same
    deal remains to be played. `transcript` is the hash of the replay's last line."""

    type: Literal["end"]
    match: Id
    result: Result
    transcript: Digits
    reveal: EndReveal
    seed: NotRequired[Digits]
    salt: NotRequired[Digits]


ListedMatchState: TypeAlias = Literal["ended", "failed", "running"]


class ListedMatch(TypedDict):
    """A public match, as it is now. A running one has `decisions`; an ended one has `turns`, and `ranks` and
    `points` by seat. One that the server failed has none of these."""

    match: Id
    state: ListedMatchState
    game: GameName
    options: list[OptionName]
    players: list[Player]
    decisions: NotRequired[WholeNumber]
    turns: NotRequired[Count]
    ranks: NotRequired[list[Rank]]
    points: NotRequired[list[Points]]


class MatchList(TypedDict):
    """The matches that have changed after a cursor, each once and as it is now, in the order of their latest
    changes. With `anew` the list begins anew: forget what it had. With `more` there are more: ask again."""

    type: Literal["match_list"]
    cursor: Id
    matches: list[ListedMatch]
    anew: NotRequired[bool]
    more: NotRequired[bool]


class Pong(TypedDict):
    type: Literal["pong"]
    echo: NotRequired[WholeNumber]


ByeCode: TypeAlias = Literal[
    "game.missing_technology",
    "game.not_asked",
    "game.not_available",
    "game.not_enough_cards",
    "game.not_enough_trains",
    "game.over",
    "game.route_taken",
    "game.unknown_name",
    "game.wrong_cards",
    "game.wrong_move",
    "game.wrong_payment",
    "game.wrong_tickets",
    "protocol.missing_field",
    "protocol.not_an_object",
    "protocol.unknown_field",
    "protocol.unknown_type",
    "protocol.wrong_value",
    "wire.bad_number",
    "wire.duplicate_name",
    "wire.not_json",
    "wire.not_utf8",
    "wire.too_deep",
    "wire.too_long",
    "auth.bad_resume_key",
    "auth.bad_token",
    "auth.login_timeout",
    "auth.name_taken",
    "auth.not_allowed",
    "auth.token_needs_tls",
    "protocol.no_such_match",
    "protocol.no_such_room",
    "protocol.out_of_phase",
    "protocol.stale_ask",
    "protocol.too_fast",
    "protocol.too_many_matches",
    "protocol.version",
    "server.busy",
    "server.failed",
    "server.full",
    "server.shutting_down",
    "server.taken_over",
    "server.too_slow",
    "done",
]


class Bye(TypedDict):
    """The last line of a connection: the reason, and when to come back, if at all."""

    type: Literal["bye"]
    code: ByeCode
    expected: ShortText
    retry_ms: NotRequired[Milliseconds]


FromServer: TypeAlias = (
    Hello
    | Welcome
    | Joined
    | Left
    | Start
    | EventMessage
    | Ask
    | Ok
    | ErrorMessage
    | Default
    | SeatChanged
    | End
    | MatchList
    | Pong
    | Bye
)


class Resume(TypedDict):
    """The session to continue. `last_events` has, for each match, the last event that the client has; 0 asks
    for `start` too. `ended` lists matches whose `end` has arrived: the server sends nothing more about
    them."""

    session: Id
    key: Secret
    last_events: dict[Id, WholeNumber]
    ended: NotRequired[list[Id]]


class Login(TypedDict):
    """The first line of a client. `token` proves a name or reserves a seat; with `resume` none is needed."""

    type: Literal["login"]
    protocol: WholeNumber
    name: PlayerName
    language: NotRequired[ShortText]
    token: NotRequired[Secret]
    max_matches: NotRequired[int]
    wants: NotRequired[Wants]
    resume: NotRequired[Resume]


SeedText: TypeAlias = str  # 1 to 200 characters


class Join(TypedDict):
    """A request to enter the room of that name, or any that fits, or to open one. With `against`, which names
    a house bot for each of the other seats in order, it starts a practice match at once; `seat` and `seed`
    can then be chosen. `request` comes back in the answers."""

    type: Literal["join"]
    game: GameName
    players: SeatCount
    options: NotRequired[list[OptionName]]
    room: NotRequired[Id]
    against: NotRequired[list[PlayerName]]
    seat: NotRequired[Seat]
    seed: NotRequired[SeedText]
    request: NotRequired[Id]


class Leave(TypedDict):
    """A request to leave a room or a match. In a match, the server makes the seat's fallbacks for good."""

    type: Literal["leave"]
    match: NotRequired[Id]
    room: NotRequired[Id]


class Ready(TypedDict):
    """The end of the set-up clock for this seat."""

    type: Literal["ready"]
    match: Id


class Act(TypedDict):
    """The answer to an ask: exactly one of `index` and `move`. `note` is kept in the replay of the match."""

    type: Literal["act"]
    match: Id
    ask: WholeNumber
    index: NotRequired[int]
    move: NotRequired[Move]
    note: NotRequired[str]


class Ping(TypedDict):
    type: Literal["ping"]
    echo: NotRequired[WholeNumber]


WatchViewer: TypeAlias = Literal["all_hands", "public"]


class Watch(TypedDict):
    """A request to watch a match that runs or has ended lately: as the public, at once; with the organizer's
    token and all hands, after the end. `request` comes back in the answer."""

    type: Literal["watch"]
    match: Id
    viewer: NotRequired[WatchViewer]
    request: NotRequired[Id]


class ListMatches(TypedDict):
    """A request for the matches that have changed after that cursor; without one, for all."""

    type: Literal["matches"]
    after: NotRequired[Id]


FromClient: TypeAlias = Login | Join | Leave | Ready | Act | Ping | Watch | ListMatches


class WatchedStart(TypedDict):
    """The beginning of a match, as a spectator gets it."""

    type: Literal["start"]
    match: Id
    viewer: Viewer
    players: list[Player]
    game: GameName
    rules_version: WholeNumber
    options: list[OptionName]
    board: Board
    board_digest: Digits
    clocks: Clocks
    commitment: Digits
    technologies: NotRequired[list[TechnologyForSale]]
    parts: NotRequired[Parts]
    request: NotRequired[Id]


class OwnView(TypedDict):
    """The part of a view that is the viewer's own."""

    seat: Seat
    team: Team
    points: Points
    hand_count: Count
    known_cards: Cards
    ticket_count: Count
    trains: NotRequired[Count]
    routes: NotRequired[list[RouteName]]
    technologies: NotRequired[list[TechnologyName]]
    stations: NotRequired[list[CityName]]
    stations_left: NotRequired[Count]
    removed_count: NotRequired[Count]
    yard: NotRequired[list[YardStack]]
    stack_count: NotRequired[Count]
    completed: NotRequired[list[TicketName]]
    hand: Cards
    tickets: list[TicketName]
    offered: NotRequired[list[TicketName]]
    returned: list[TicketName]
    stack: NotRequired[Cards]
    removed: NotRequired[list[TicketName]]


LegalByType = TypedDict(
    "LegalByType",
    {
        "draw_card": list[tuple[int, DrawCard]],
        "take_card": list[tuple[int, TakeCard]],
        "draw_three": list[tuple[int, DrawThree]],
        "place_card": list[tuple[int, PlaceCard]],
        "claim_route": list[tuple[int, ClaimRoute]],
        "pay_tunnel": list[tuple[int, PayTunnel]],
        "abandon_tunnel": list[tuple[int, AbandonTunnel]],
        "stop": list[tuple[int, Stop]],
        "draw_tickets": list[tuple[int, DrawTickets]],
        "keep_tickets": list[tuple[int, KeepTickets]],
        "share_tickets": list[tuple[int, ShareTickets]],
        "lay_cards": list[tuple[int, LayCards]],
        "complete_tickets": list[tuple[int, CompleteTickets]],
        "buy_technology": list[tuple[int, BuyTechnology]],
        "build_station": list[tuple[int, BuildStation]],
        "pass": list[tuple[int, Pass]],
    },
    total=False,
)
"""Listed moves with their indexes in `legal`, by type."""
