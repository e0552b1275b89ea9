"""The games that come with Stellwerk, each a file beside this one that reads as its rules do."""

from typing import Final

from stellwerk_engine.core.state import RuleSet
from stellwerk_engine.games.card_game import CARD_GAME
from stellwerk_engine.games.europe import EUROPE
from stellwerk_engine.games.team_asia import TEAM_ASIA
from stellwerk_engine.games.united_kingdom import UNITED_KINGDOM
from stellwerk_engine.games.usa import USA

RULE_SETS: Final[dict[str, RuleSet]] = {
    rules.id: rules for rules in (USA, CARD_GAME, TEAM_ASIA, UNITED_KINGDOM, EUROPE)
}
