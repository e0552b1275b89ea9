"""Buy a technology, and the claims that some bring at once (UK-09, UK-10, UK-21, UK-22)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from stellwerk_engine.boards.board_file import BoardFile
from stellwerk_engine.boards.board_file import Route as RouteRecord
from stellwerk_engine.core.board import Board
from stellwerk_engine.core.cards import (
    LOCOMOTIVE,
    LOCOMOTIVE_SHIFT,
    CardSet,
    counts,
    covers,
    describe,
    from_wire,
    to_wire,
    total,
    without,
)
from stellwerk_engine.core.folding import onto_discards, out_of_hand, present, with_player, with_progress
from stellwerk_engine.core.lengths import CARD_BYTES, names_bytes
from stellwerk_engine.core.perks import Perks
from stellwerk_engine.core.piles import discard
from stellwerk_engine.core.state import (
    Action,
    Award,
    Events,
    Game,
    HiddenCards,
    Move,
    RuleSet,
    Seat,
    Standing,
    State,
    ViewerId,
)
from stellwerk_engine.core.turn import end_turn
from stellwerk_engine.core.words import Words, title
from stellwerk_engine.parts.claiming.claim_route import (
    Claim,
    add_claims,
    can_claim,
    check_claim,
    claimable_mask,
    claims_complete,
    takeable_mask,
)
from stellwerk_engine.parts.claiming.payments import all_payments, divides, least_missed, substituted_payment
from stellwerk_engine.parts.claiming.place_claim import AnsweredByClaims
from stellwerk_engine.parts.technologies.hidden_claims import cards_for_claims
from stellwerk_engine.parts.technologies.perks import PerksTable
from stellwerk_engine.parts.technologies.technology import Technology
from stellwerk_protocol import decisions as wire_decisions
from stellwerk_protocol import events as ev
from stellwerk_protocol import moves as wire_moves
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.names import TechnologyName
from stellwerk_protocol.technologies import TechnologyForSale
from stellwerk_protocol.views import View

TechnologyId = int

PAYMENTS_LOOKED_AT: Final = 500  # so that no hand makes a list of moves slow


def for_sale(rules: RuleSet) -> tuple[TechnologyForSale, ...] | UnsetType:
    """Return the facts of all technologies of the game, as `start` lists them; UNSET if it has none."""
    technologies = technologies_of(rules)
    if not technologies:
        return UNSET
    return tuple(
        TechnologyForSale(
            technology.id,
            technology.supply,
            technology.cost,
            technology.opens_regions,
            technology.opens_lengths,
            technology.opens_ferries,
        )
        for technology in technologies
    )


def technologies_of(rules: RuleSet) -> tuple[Technology, ...]:
    """Return the technologies of the game; none if it is played without."""
    action = rules.part(BuyTechnology)
    return () if action is None else action.technologies


def technology_ids(game: Game) -> dict[str, TechnologyId]:
    """Return the number of each technology, in the order of the rules."""
    action = game.part(BuyTechnology)
    return {} if action is None else action.ids


class Buy(Move):
    __slots__ = ("kind", "pay", "technology")

    def __init__(self, technology: TechnologyId, kind: Technology, pay: CardSet) -> None:
        self.technology = technology
        self.kind = kind
        self.pay = pay

    def to_wire(self) -> wire_moves.BuyTechnology:
        return wire_moves.BuyTechnology(self.kind.id, to_wire(self.pay))

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        """Take the technology out of the supply, before the price is discarded (UK-26)."""
        state.progress_turn = state.turn
        kind = self.kind
        _move_technology(state, seat, self.technology, -1)
        state.hands[seat] -= self.pay
        state.known[seat] = without(state.known[seat], self.pay)
        if events is not None:
            events.append(ev.TechnologyBought(seat, kind.id, to_wire(self.pay)))
        discard(state, self.pay, events)
        if kind.claims_taken:
            state.pending = ClaimNow(
                seat, self.technology, kind.id, right_of_way=True, claims_left=1, may_stop=False
            )
        elif kind.claims:
            state.pending = ClaimNow(seat, self.technology, kind.id, False, kind.claims, may_stop=False)
        else:
            state.pending = state.game.take_action[seat]
        if events is not None:
            events.append(ev.Asked(state.pending.to_wire(state, seat, sees_all=True)))


class BuyTechnology(Action):
    """A purchase before the action of a turn, at most one.

    Any `substitute` cards count as a locomotive. Routes in `home_regions` need no concession, lengths in
    `home_lengths` no technology, and routes to `overseas_regions` none at all.
    """

    __slots__ = ("home_lengths", "home_regions", "ids", "overseas_regions", "substitute", "technologies")

    def __init__(
        self,
        technologies: tuple[Technology, ...],
        substitute: int,
        home_regions: frozenset[str],
        home_lengths: frozenset[int],
        overseas_regions: frozenset[str],
    ) -> None:
        self.technologies = technologies
        self.substitute = substitute
        self.home_regions = home_regions
        self.home_lengths = home_lengths
        self.overseas_regions = overseas_regions
        self.ids: dict[str, TechnologyId] = {
            technology.id: number for number, technology in enumerate(technologies)
        }

    @property
    def events(self) -> tuple[type[object], ...]:
        return (ev.TechnologyBought, ev.TechnologyReturned, ev.TechnologiesWithdrawn)

    @property
    def decisions(self) -> tuple[type[object], ...]:
        return (wire_decisions.ClaimRoute,)

    def check_board(self, file: BoardFile, rules: RuleSet) -> None:
        """Refuse a route that nothing opens: its regions and its length have to be known."""
        regions = {region for technology in self.technologies for region in technology.opens_regions}
        known = regions | self.home_regions | self.overseas_regions
        overseas: set[str] = set()
        for number, city in enumerate(file.cities):
            if city.region not in known:
                raise file.error(
                    f"cities[{number}].region",
                    f"{city.region!r} is not a land of {rules.id}: expected {', '.join(sorted(known))}",
                )
            if city.region in self.overseas_regions:
                overseas.add(city.id)
        lengths = {length for technology in self.technologies for length in technology.opens_lengths}
        for number, route in enumerate(file.routes):
            if route.length not in lengths | self.home_lengths and not {route.a, route.b} & overseas:
                raise file.error(
                    f"routes[{number}].length", f"no technology of {rules.id} opens length {route.length}"
                )

    def needs(self, file: BoardFile, route: RouteRecord) -> int:
        regions = [city.region for city in file.cities if city.id in (route.a, route.b)]
        if any(region in self.overseas_regions for region in regions):
            return 0
        return sum(
            1 << number
            for number, technology in enumerate(self.technologies)
            if any(region in technology.opens_regions for region in regions)
            or route.length in technology.opens_lengths
            or (technology.opens_ferries and route.locomotives > 0)
        )

    def perks(self, board: Board) -> dict[int, Perks]:
        return PerksTable(self.technologies, self.substitute, board)

    def begin(self, state: State) -> None:
        state.supply = tuple(technology.supply for technology in self.technologies)

    def redact(self, game: Game, event: ev.Event, viewer: ViewerId) -> ev.Event:
        return event  # everybody may know all of it

    def redact_decision(self, decision: wire_decisions.Decision, viewer: ViewerId) -> wire_decisions.Decision:
        return decision  # everybody may know all of it

    def fold(self, game: Game, view: View, event: ev.Event) -> View:
        match event:
            case ev.TechnologyBought(seat, technology, cards):
                view = out_of_hand(onto_discards(view, cards), seat, cards)
                return with_progress(_move_in_view(game, view, seat, technology, -1))
            case ev.TechnologyReturned(seat, technology):
                return _move_in_view(game, view, seat, technology, 1)
            case ev.TechnologiesWithdrawn(technologies):
                left = present(view.supply)
                return replace(
                    view, supply={name: number for name, number in left.items() if name not in technologies}
                )
            case _:
                raise NotImplementedError(event)

    def demands(self, state: State, hidden: HiddenCards) -> Iterable[CardSet]:
        """Return hidden cards that make a claim: who could make none was not asked (UK-21, UK-22)."""
        assert isinstance(state.pending, ClaimNow)
        seat = state.pending.seats[0]
        return cards_for_claims(state, seat, state.pending.mask(state, seat), hidden)

    def view_bytes(self, game: Game) -> int:
        """Count each technology for each player and for the supply, which has its number too."""
        names = names_bytes(self.ids)
        return (game.seat_count + 1) * names + 4 * len(self.technologies)

    def moves_bytes(self, game: Game) -> tuple[int, int]:
        head = len('{"type":"buy_technology","technology":"","cards":{}},') + sum(CARD_BYTES)
        return sum(head + len(name) for name in self.ids), len(self.ids)

    def rule(self, game: Game) -> str:
        """State what is closed without technologies, how they are paid, and what each of them brings."""
        lengths = " or ".join(map(str, sorted(self.home_lengths)))
        text = (
            "buy_technology, at most one a turn and before its action, paid in locomotives. Any "
            f"{self.substitute} cards count as a locomotive, for claims too. Without technologies you claim "
            f"only routes inside {' or '.join(sorted(self.home_regions))} of length {lengths} that are no "
            "ferries"
        )
        if self.overseas_regions:
            text += f", and any route to {' or '.join(sorted(self.overseas_regions))}"
        listed = "; ".join(
            f"{kind.id} {kind.cost}/{kind.supply} {kind.rule(game.board)}" for kind in self.technologies
        )
        return f"{text}. Each technology with its price/number of copies: {listed}."

    def sentence(self, event: ev.Event, words: Words) -> str:
        match event:
            case ev.TechnologyBought(_, technology, cards):
                return f"buys {title(technology)} for {words.cards(cards)}"
            case ev.TechnologyReturned(_, technology):
                return f"gives {title(technology)} back"
            case ev.TechnologiesWithdrawn(technologies):
                return f"no longer for sale: {', '.join(map(title, technologies))}"
            case _:
                raise NotImplementedError(event)

    def question(self, decision: wire_decisions.Decision, words: Words) -> str:
        return "which route to claim?"

    def see(self, state: State, view: View) -> None:
        supply = present(view.supply)
        state.supply = tuple(supply.get(name, 0) for name in self.ids)
        for player in view.players:
            for name in () if player.technologies is UNSET else player.technologies:
                state.technologies[player.seat] |= 1 << self.ids[name]

    def see_pending(self, state: State, pending: wire_decisions.Decision) -> None:
        match pending:
            case wire_decisions.ClaimRoute(seats, name, claims_left, right_of_way, may_stop):
                state.pending = ClaimNow(seats[0], self.ids[name], name, right_of_way, claims_left, may_stop)
            case _:
                raise NotImplementedError(pending)

    def after_reshuffle(self, state: State, events: Events | None) -> None:
        """Withdraw the technologies that can be bought only until then (UK-26)."""
        technologies = self.technologies
        gone = [
            number
            for number, technology in enumerate(technologies)
            if technology.until_shuffle and state.supply[number]
        ]
        if gone:
            state.supply = tuple(0 if number in gone else left for number, left in enumerate(state.supply))
            if events is not None:
                events.append(ev.TechnologiesWithdrawn(tuple(technologies[number].id for number in gone)))

    def awards(self, state: State, standings: list[Standing]) -> list[Award]:
        """Return the bonuses of technologies, which only their owners get."""
        awards: list[Award] = []
        for number, technology in enumerate(self.technologies):
            if technology.bonus is not None:
                owners = [standing for standing in standings if _owns(state, standing.team, number)]
                awards += technology.bonus.awards(standings, owners, state.game.board)
        return awards

    def add_legal(self, state: State, seat: Seat, moves: list[Move]) -> None:
        """Add, for each technology, the payment with fewest substitutes that leaves what it has to leave."""
        affordable = _most_locomotives(state, seat)
        plain_payments: dict[int, CardSet | None] = {}  # by cost
        for number in _on_offer(state, seat) if affordable else ():
            technology = self.technologies[number]
            cost = technology.cost
            if cost > affordable:
                continue
            if technology.is_for_claims:
                pay = _payment_that_leaves_claim(state, seat, technology)
            elif cost in plain_payments:
                pay = plain_payments[cost]
            else:
                locomotives = min(counts(state.hands[seat])[LOCOMOTIVE], cost)
                pay = plain_payments[cost] = _payment(state, seat, cost, locomotives)
            if pay is not None:
                moves.append(Buy(number, technology, pay))

    def legal_complete(self, state: State, seat: Seat) -> bool:
        listed: list[Move] = []
        self.add_legal(state, seat, listed)
        return not any(
            _may_be_bought_otherwise(
                state,
                seat,
                self.technologies[number],
                [buy.pay for buy in listed if isinstance(buy, Buy) and buy.technology == number],
            )
            for number in _on_offer(state, seat)
        )

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move | None:
        if not isinstance(wire, wire_moves.BuyTechnology):
            return None
        number = self.ids.get(wire.technology)
        if number is None:
            names = ", ".join(self.ids)
            raise IllegalMoveError("game.unknown_name", "/technology", f"one of {names}")
        if number not in _on_offer(state, seat):
            raise IllegalMoveError(
                "game.not_available", "/technology", "a technology in the supply that this seat does not hold"
            )
        pay = from_wire(wire.cards)
        if not covers(state.hands[seat], pay):
            raise IllegalMoveError(
                "game.not_enough_cards", "/cards", f"cards out of the hand: {describe(state.hands[seat])}"
            )
        technology = self.technologies[number]
        substitute = state.game.perks[state.technologies[seat]].substitute
        if not divides(pay, LOCOMOTIVE, technology.cost, 0, substitute):
            raise IllegalMoveError(
                "game.wrong_payment",
                "/cards",
                f"{technology.cost} locomotives; any {substitute} cards count as one",
            )
        if not _leaves_claim(state, seat, technology, pay):
            raise IllegalMoveError(
                "game.not_available",
                "/technology",
                "cards left to make the claim that this technology is for",
            )
        return Buy(number, technology, pay)

    def fallback(self, state: State, seat: Seat) -> Move | None:
        return None


def _move_in_view(game: Game, view: View, seat: Seat, technology: TechnologyName, to_supply: int) -> View:
    """Move it from the supply to the seat (-1) or back (1); both stay in the order of the rules."""
    order = technology_ids(game)
    left = dict(present(view.supply))
    left[technology] = left.get(technology, 0) + to_supply
    player = view.players[seat]
    held = {*present(player.technologies)} ^ {technology}
    player = replace(player, technologies=tuple(sorted(held, key=order.__getitem__)))
    supply = {name: left[name] for name in order if left.get(name)}
    return replace(with_player(view, player), supply=supply)


def supply_view(state: State) -> dict[TechnologyName, int]:
    """Return how many are left of each technology that is left."""
    all_mask = (1 << len(state.supply)) - 1
    names = state.game.perks[all_mask].names
    return {names[number]: left for number, left in enumerate(state.supply) if left}


def _owns(state: State, team: int, number: TechnologyId) -> bool:
    return any(state.technologies[seat] >> number & 1 for seat in state.game.seats_of_team[team])


def _most_locomotives(state: State, seat: Seat) -> int:
    """Return how many locomotives the hand is worth, substitutes included."""
    in_hand = counts(state.hands[seat])
    return (
        in_hand[LOCOMOTIVE]
        + sum(in_hand[:LOCOMOTIVE]) // state.game.perks[state.technologies[seat]].substitute
    )


def _on_offer(state: State, seat: Seat) -> list[TechnologyId]:
    """Return the technologies that are in the supply and that the seat does not hold (UK-10)."""
    held = state.technologies[seat]
    return [number for number, left in enumerate(state.supply) if left and not held >> number & 1]


def _payment(state: State, seat: Seat, cost: int, locomotives: int) -> CardSet | None:
    """Return the payment with so many locomotives, and substitutes for the others."""
    hand = state.hands[seat]
    kept_back = counts(hand)[LOCOMOTIVE] - locomotives
    substitute = state.game.perks[state.technologies[seat]].substitute
    return substituted_payment(hand - (kept_back << LOCOMOTIVE_SHIFT), LOCOMOTIVE, cost, 0, substitute)


def _payment_that_leaves_claim(state: State, seat: Seat, technology: Technology) -> CardSet | None:
    """Return a payment with as many locomotives as it takes, or with fewer if only that leaves the cards for
    the claim. If need be, the cards of a claim are set aside before the substitutes are chosen. None means
    that no payment leaves one."""
    cost = technology.cost
    hand = state.hands[seat]
    substitute = state.game.perks[state.technologies[seat]].substitute
    for locomotives in range(min(counts(hand)[LOCOMOTIVE], cost), -1, -1):
        pay = _payment(state, seat, cost, locomotives)
        if pay is None:
            return None
        if _leaves_claim(state, seat, technology, pay):
            return pay
        by_themselves = locomotives << LOCOMOTIVE_SHIFT
        in_groups = (cost - locomotives) * substitute
        for claim in _claims_with(state, seat, technology, hand - by_themselves):
            others = hand - by_themselves - claim.pay
            if total(others) >= in_groups:
                return by_themselves + least_missed(others, in_groups)
    return None


def _some_payments(state: State, seat: Seat, cost: int) -> Iterator[CardSet]:
    """Yield payments one by one, but stop after a bound: large hands have millions."""
    substitute = state.game.perks[state.technologies[seat]].substitute
    every = all_payments(state.hands[seat], LOCOMOTIVE, cost, 0, substitute)
    return islice(every, PAYMENTS_LOOKED_AT)


def _may_be_bought_otherwise(state: State, seat: Seat, technology: Technology, listed: list[CardSet]) -> bool:
    """Return whether `check` accepts a payment that is not listed, or may do so among those not looked at."""
    if not listed:
        return False
    looked_at = 0
    for pay in _some_payments(state, seat, technology.cost):
        looked_at += 1
        if pay not in listed and _leaves_claim(state, seat, technology, pay):
            return True
    return looked_at == PAYMENTS_LOOKED_AT


def _leaves_claim(state: State, seat: Seat, technology: Technology, pay: CardSet) -> bool:
    """Return whether a technology that is bought for a claim leaves a legal one (UK-21, UK-22); others always
    do."""
    if not technology.is_for_claims:
        return True
    mask = _claims_mask(state, seat, technology)
    held = state.hands[seat]
    state.hands[seat] = held - pay
    left = can_claim(state, seat, mask)
    state.hands[seat] = held
    return left


def _claims_with(state: State, seat: Seat, technology: Technology, hand: CardSet) -> list[Claim]:
    """Return the claims that the technology brings, listed for this hand instead of the seat's own."""
    moves: list[Move] = []
    held = state.hands[seat]
    state.hands[seat] = hand
    add_claims(state, seat, _claims_mask(state, seat, technology), moves)
    state.hands[seat] = held
    return [move for move in moves if isinstance(move, Claim)]


def _claims_mask(state: State, seat: Seat, technology: Technology) -> int:
    return takeable_mask(state, seat) if technology.claims_taken else claimable_mask(state, seat)


def _move_technology(state: State, seat: Seat, number: TechnologyId, to_supply: int) -> None:
    """Move it from the supply to the seat (-1) or back (1)."""
    supply = state.supply
    state.supply = (*supply[:number], supply[number] + to_supply, *supply[number + 1 :])
    state.technologies[seat] ^= 1 << number


class StopClaiming(Move):
    """UK-22: the second claim may be left."""

    __slots__ = ("decision",)

    def __init__(self, decision: ClaimNow) -> None:
        self.decision = decision

    def to_wire(self) -> wire_moves.Stop:
        return wire_moves.Stop()

    def apply(self, state: State, seat: Seat, events: Events | None) -> None:
        if events is not None:
            events.append(ev.Stopped(seat))
        self.decision.give_back(state, seat, events)


class ClaimNow(AnsweredByClaims):
    """The claims that a technology just bought is for; then it goes back to the supply."""

    __slots__ = ("claims_left", "may_stop", "name", "right_of_way", "seats", "technology")

    def __init__(
        self,
        seat: Seat,
        technology: TechnologyId,
        name: str,
        right_of_way: bool,
        claims_left: int,
        may_stop: bool,
    ) -> None:
        self.seats = (seat,)
        self.technology = technology
        self.name = name
        self.right_of_way = right_of_way
        self.claims_left = claims_left
        self.may_stop = may_stop

    def legal(self, state: State, seat: Seat) -> list[Move]:
        moves: list[Move] = []
        add_claims(state, seat, self.mask(state, seat), moves)
        if self.may_stop:
            moves.append(StopClaiming(self))
        return moves

    def legal_complete(self, state: State, seat: Seat) -> bool:
        return claims_complete(state, seat, self.mask(state, seat))

    def check(self, state: State, seat: Seat, wire: wire_moves.Move) -> Move:
        match wire:
            case wire_moves.ClaimRoute():
                return check_claim(state, seat, wire, self.mask(state, seat))
            case wire_moves.Stop() if self.may_stop:
                return StopClaiming(self)
            case _:
                raise IllegalMoveError(
                    "game.wrong_move", "/type", "claim_route, with the technology just bought"
                )

    def fallback(self, state: State, seat: Seat) -> Move:
        """Stop, where one may; else the first claim listed."""
        return StopClaiming(self) if self.may_stop else self.legal(state, seat)[0]

    def after_claim(self, state: State, seat: Seat, events: Events | None) -> None:
        """Ask for another claim if one is left and legal; else return the technology and end the turn."""
        second = ClaimNow(
            seat, self.technology, self.name, self.right_of_way, self.claims_left - 1, may_stop=True
        )
        if second.claims_left and len(second.legal(state, seat)) > 1:
            state.pending = second
            if events is not None:
                events.append(ev.Asked(second.to_wire(state, seat, sees_all=True)))
        else:
            self.give_back(state, seat, events)

    def give_back(self, state: State, seat: Seat, events: Events | None) -> None:
        _move_technology(state, seat, self.technology, 1)
        if events is not None:
            events.append(ev.TechnologyReturned(seat, self.name))
        end_turn(state, seat, events)

    def to_wire(self, state: State, viewer_seat: Seat, sees_all: bool) -> wire_decisions.Decision:
        return wire_decisions.ClaimRoute(
            self.seats, self.name, self.claims_left, self.right_of_way, self.may_stop
        )

    def mask(self, state: State, seat: Seat) -> int:
        """Return the routes that may be claimed now."""
        return takeable_mask(state, seat) if self.right_of_way else claimable_mask(state, seat)
