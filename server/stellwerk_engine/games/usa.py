"""North America, the base game: protocol/rules/usa.md."""

from typing import Final

from stellwerk_engine.core.scoring import LONGEST_PATH, completed_tickets, longest_own_path
from stellwerk_engine.core.state import RuleSet, TrainCards
from stellwerk_engine.core.turn import FewTrains
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.tickets import DrawTickets, FirstTickets

USA: Final = RuleSet(
    id="usa",
    title="North America, the base game",
    rules_version=1,
    board="usa",
    board_features=frozenset({"map"}),
    seat_counts=(2, 3, 4, 5),
    train_cards=TrainCards(dealt=4, exchange_at=3),
    set_up=(FirstTickets(3, keep=2),),
    menu=(
        DrawCards(),
        ClaimRoute(open_tracks={2: {2: 1, 3: 1}, 3: {2: 1, 3: 1}}),
        DrawTickets(3, keep=1),
    ),
    last_round=FewTrains(2),
    bonuses=(LONGEST_PATH,),
    tie_breaks=(completed_tickets, longest_own_path),
)
