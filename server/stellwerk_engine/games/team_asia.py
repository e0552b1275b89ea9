"""Asia, teams of two: protocol/rules/team_asia.md."""

from typing import Final

from stellwerk_engine.core.scoring import (
    ASIA_EXPLORER,
    ASIA_EXPRESS,
    completed_tickets,
    longest_own_path,
)
from stellwerk_engine.core.state import RuleSet, TrainCards
from stellwerk_engine.core.turn import FewTrains
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.holders import Holders
from stellwerk_engine.parts.share_tickets import ShareTickets, ask_to_share
from stellwerk_engine.parts.tickets import DrawTickets, FirstTickets

TEAM_ASIA: Final = RuleSet(
    id="team_asia",
    title="Asia, teams of two",
    rules_version=1,
    board="team_asia",
    board_features=frozenset({"map", "tunnels"}),
    seat_counts=(4, 6),
    team_size=2,
    train_cards=TrainCards(dealt=4, exchange_at=3),
    set_up=(Holders(), FirstTickets(5, keep=3, share=ask_to_share)),
    menu=(
        DrawCards(to_holder=True),
        ClaimRoute(open_tracks={4: {2: 1, 3: 2}}),
        DrawTickets(4, keep=1, share=ask_to_share),
        ShareTickets(),
    ),
    last_round=FewTrains(4),
    bonuses=(ASIA_EXPRESS, ASIA_EXPLORER),
    tie_breaks=(completed_tickets, longest_own_path),
)
