"""North America, the base game: protocol/rules/usa.md."""

from typing import Final

from stellwerk_engine.core.rule_set import RuleSet
from stellwerk_engine.core.scoring import LONGEST_PATH
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.tickets import DrawTickets

USA: Final = RuleSet(
    id="usa",
    title="North America, the base game",
    rules_version=1,
    board="usa",
    board_features=frozenset({"map"}),
    seat_counts=(2, 3, 4, 5),
    menu=(DrawCards(), ClaimRoute(), DrawTickets()),
    cards_dealt=4,
    tickets_dealt=3,
    tickets_kept_at_start=2,
    tickets_drawn=3,
    tickets_kept=1,
    exchange_at=3,
    open_tracks={2: {2: 1, 3: 1}, 3: {2: 1, 3: 1}},
    last_round_at_trains=2,
    bonuses=(LONGEST_PATH,),
)
