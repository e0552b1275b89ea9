"""The rules of a game in half a page, for players that know none: language models, and people.

Law: each part states its own rule with its own numbers, so a game in no list has its rules too. This module
adds what every game has, and the order. The pages in protocol/rules/ are the law; this is a summary.
"""

from __future__ import annotations

from functools import lru_cache

from stellwerk_base.texts import counted
from stellwerk_engine.core.state import Game


@lru_cache(maxsize=32)  # a prompt has them for each move
def rules_in_words(game: Game) -> str:
    """Return the rules, a line for each part."""
    rules = game.rules
    ties = ", then ".join(tie_break.__name__.replace("_", " ") for tie_break in rules.tie_breaks)
    bonuses = "; ".join(bonus.rule(game.board) for bonus in rules.bonuses)
    lines = [
        _train_cards(game),
        *(part.rule(game) for part in (*rules.other_parts, *rules.set_up)),
        "A turn is exactly one of these actions:",
        *(f"- {part.rule(game)}" for part in rules.menu),
        *(f"- {part.rule(game)}" for part in rules.before_action),
        f"When {rules.last_round.rule()} at the end of a turn, each player has one more turn. Then each "
        "completed ticket adds its points, and every other ticket subtracts them.",
        f"Bonuses at the end: {bonuses}." if bonuses else "",
        f"The most points win; ties are decided by {ties}." if ties else "The most points win.",
    ]
    return "\n".join(line for line in lines if line)


def _train_cards(game: Game) -> str:
    file, cards = game.board.file, game.rules.train_cards
    locomotives = counted(cards.locomotives_dealt, "locomotive")
    dealt = f"{counted(cards.dealt, 'card')}{f' and {locomotives}' if cards.locomotives_dealt else ''}"
    text = (
        f"Train cards: {file.cards_each_color} of each of 8 colors, {file.locomotives} locomotives; each "
        f"player is dealt {dealt}, and up to five lie open."
    )
    if cards.exchange_at:
        text += f" With {cards.exchange_at} locomotives among these, all five are replaced."
    refilled = "The discards become the pile when it is empty." if cards.reshuffled else ""
    return f"{text} {refilled}".rstrip()
