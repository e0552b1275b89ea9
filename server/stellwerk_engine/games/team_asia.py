"""Asia, teams of two: protocol/rules/team_asia.md."""

from typing import Final

from stellwerk_engine.core.rule_set import RuleSet
from stellwerk_engine.core.scoring import ASIA_EXPLORER, ASIA_EXPRESS
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.tickets import DrawTickets, ShareTickets

TEAM_ASIA: Final = RuleSet(
    id="team_asia",
    title="Asia, teams of two",
    rules_version=1,
    board="team_asia",
    board_features=frozenset({"map", "tunnels"}),
    seat_counts=(4, 6),
    team_size=2,
    menu=(DrawCards(), ClaimRoute(), DrawTickets(), ShareTickets()),
    cards_dealt=4,
    tickets_dealt=5,
    tickets_kept_at_start=3,
    tickets_drawn=4,
    tickets_kept=1,
    exchange_at=3,
    holders=True,
    open_tracks={4: {2: 1, 3: 2}},
    last_round_at_trains=4,
    bonuses=(ASIA_EXPRESS, ASIA_EXPLORER),
)
