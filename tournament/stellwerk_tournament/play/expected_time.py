"""How long the matches of a tournament will take: by the matches that it has, or by a trial on this machine.

Law: a figure says where it comes from. Nobody knows how long other bots think before they have played, so a
trial match of built-in bots is a first estimate and called that.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import trio

from stellwerk_processes.bench.invitation import BotStartError
from stellwerk_processes.bench.levels import UNCONFINED
from stellwerk_processes.bot_spec import bot_spec
from stellwerk_processes.started_match import BotMatch, NoResultError, play_match
from stellwerk_server.match.plan import MatchPlan
from stellwerk_server.operate.settings import Time, clocks_of
from stellwerk_tournament.config.settings import Variant
from stellwerk_tournament.store.results import Results

TRIAL_BOT: Final = "greedy"
TRIAL_SECONDS: Final = 20.0  # for a trial match, at most


def seconds_by_results(variants: Sequence[Variant], results: Results) -> dict[int, float]:
    """Return the mean time of a match of each variant, by its number. Variants of which none has been played
    are missing."""
    found: dict[int, float] = {}
    for number, variant in enumerate(variants):
        choice = variant.choice
        played = results.durations.get((choice.game_id, choice.seat_count, choice.options))
        if played is not None:
            found[number] = played.seconds / played.matches
    return found


async def seconds_by_trial(variants: Sequence[Variant], numbers: Iterable[int]) -> Mapping[int, float]:
    """Return the time of one match of `greedy` against itself, for these variants. A match that cannot be
    played in time is missing."""
    found: dict[int, float] = {}
    for number in numbers:
        began = trio.current_time()
        with trio.move_on_after(TRIAL_SECONDS):
            try:
                await play_match(_trial(variants[number]), UNCONFINED)
            except (BotStartError, NoResultError):
                continue
            found[number] = trio.current_time() - began
    return found


def _trial(variant: Variant) -> BotMatch:
    game = variant.game
    bots = tuple(
        replace(bot_spec(built_in=TRIAL_BOT), name=f"{TRIAL_BOT}-{team + 1}", transport="stdio")
        for team in game.team_of
    )
    seed = secrets.token_bytes(32)
    plan = MatchPlan(
        match=f"trial-{seed.hex()[:12]}",
        game=game,
        names=tuple(bot.name for bot in bots),
        seed=seed,
        salt=seed,
        clocks=clocks_of(Time()),
    )
    return BotMatch(plan=plan, bots=bots, bot_seeds=tuple("" for _ in bots))
