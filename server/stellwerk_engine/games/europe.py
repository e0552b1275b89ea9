"""Europe, with stations, ferries, tunnels and long tickets: protocol/rules/europe.md."""

from typing import Final

from stellwerk_engine.core.scoring import LONGEST_PATH, completed_tickets, longest_own_path
from stellwerk_engine.core.state import RuleSet, TrainCards
from stellwerk_engine.core.turn import FewTrains
from stellwerk_engine.parts.claiming.claim_route import ClaimRoute
from stellwerk_engine.parts.draw_cards import DrawCards
from stellwerk_engine.parts.long_tickets import LongTickets, remove_tickets
from stellwerk_engine.parts.stations.build_station import BuildStation, fewest_stations
from stellwerk_engine.parts.tickets import DrawTickets, FirstTickets

EUROPE: Final = RuleSet(
    id="europe",
    title="Europe, with stations, ferries and tunnels",
    rules_version=1,
    board="europe",
    board_features=frozenset({"map", "ferries", "tunnels", "long_tickets"}),
    seat_counts=(2, 3, 4, 5),
    train_cards=TrainCards(dealt=4, exchange_at=3),
    set_up=(LongTickets(1), FirstTickets(3, keep=2, reject=remove_tickets)),
    menu=(
        DrawCards(),
        ClaimRoute(open_tracks={2: {2: 1, 3: 1}, 3: {2: 1, 3: 1}}),
        DrawTickets(3, keep=1),
        BuildStation(3, points_left=4),
    ),
    last_round=FewTrains(2),
    bonuses=(LONGEST_PATH,),
    tie_breaks=(completed_tickets, fewest_stations, longest_own_path),
)
