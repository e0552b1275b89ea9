"""The names that `import stellwerk` offers, in one place."""

from stellwerk.lab.match_here import IllegalAnswerError, LateAnswerError
from stellwerk.lab.matches import run_match, run_matches
from stellwerk.lab.players import Bot
from stellwerk.lab.positions import positions
from stellwerk.lab.rows import Row, TournamentRow, tournament_rows
from stellwerk_bots.bot import Answer, Message, NewPlayer, Player
from stellwerk_page.position import Position

__all__ = [
    "Answer",
    "Bot",
    "IllegalAnswerError",
    "LateAnswerError",
    "Message",
    "NewPlayer",
    "Player",
    "Position",
    "Row",
    "TournamentRow",
    "positions",
    "run_match",
    "run_matches",
    "tournament_rows",
]
