"""The results of ended matches: the ranking, and the content of the pages of a bot and of a pairing.

Laws:
- figures equal those in a tournament's own files, rounded as there: the ranking of a tournament that is over
  says what `ratings.json` says, in the order of its report;
- a match counts when it is added, and the caller adds only matches with a public result;
- names are data: they are values of JSON, and in no text here.

Rating takes long where matches are very many. It needs only what `counted` returns, so a thread can do it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from stellwerk_tournament.evidence.worth import Finish, Versus
from stellwerk_tournament.ratings.elo import hundredths
from stellwerk_tournament.ratings.outcomes import Outcome, scores_of
from stellwerk_tournament.ratings.ratings import Rating, RatingError, Ratings, rate
from stellwerk_tournament.store.field import WhyOut
from stellwerk_web.show.forms import Head, Ranking, RankingRow

LISTED: Final = 100  # matches of a bot or of a pairing: the last ones
NO_WORDS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SideConduct:
    """The conduct of one side of a match, if anything is known of it."""

    asks: int = 0
    used_ms: int = 0
    slowest_ms: int = 0
    faults: tuple[str, ...] = ()  # kinds, each once
    forfeit: str | None = None  # the reason


@dataclass(frozen=True, slots=True)
class Counted:
    """An ended match that counts. A side is what gets a rank: a player, or a team. `order` is the place among
    all matches: results add up in this order, whenever they come."""

    head: Head
    sides: tuple[str, ...]
    ranks: tuple[int, ...]
    points: tuple[int, ...]
    order: tuple[int, int]
    block: str | None = None

    def finish(self, side: int) -> Finish:
        return Finish(self.ranks[side], self.points[side])

    def outcome(self) -> Outcome:
        return Outcome(
            entrants=self.sides,
            ranks=self.ranks,
            seats=tuple(range(len(self.sides))),
            block=self.block,
            game=self.head.game,
        )


# -- what /data/bot/NAME and /data/pair/NAME/NAME say ------------------------------------------------


class AgainstRow(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The matches of a bot with one other. `score` and `points` are means. `likely_better` is how likely the
    first one is the stronger, if the ratings tell."""

    bot: str
    matches: int
    score: float
    points: float
    others_points: float
    better: int
    equal: int
    worse: int
    likely_better: float | UnsetType = UNSET


class BotSeatRow(Struct, frozen=True):
    """The matches of a bot in one seat: its place in the order of play, from 0."""

    seat: int
    matches: int
    score: float
    points: float


class BotGameRow(Struct, frozen=True):
    game: str
    matches: int
    score: float
    points: float


class Times(Struct, frozen=True):
    answers: int
    mean_ms: float
    slowest_ms: int


class Reason(Struct, frozen=True):
    """A fault or a reason to forfeit, in words, and in how many matches it occurred."""

    kind: str
    words: str
    matches: int


class BotPage(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The content of a bot's page. `rank` counts from 1 in the order of the ranking, which has `of` bots;
    `against` has that order, too. `matches` are the last ones, the newest first. `hidden` says what is not
    shown yet, and why."""

    row: RankingRow
    rank: int
    of: int
    over: str
    note: str | UnsetType = UNSET
    against: tuple[AgainstRow, ...]
    seats: tuple[BotSeatRow, ...]
    games: tuple[BotGameRow, ...]
    faults: tuple[Reason, ...] = ()
    forfeits: tuple[Reason, ...] = ()
    times: Times | UnsetType = UNSET
    matches: tuple[Head, ...]
    hidden: str | UnsetType = UNSET


class PairPage(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The content of a pairing's page, as seen from the first bot, whose `row` it is."""

    bots: tuple[str, str]
    row: AgainstRow
    over: str
    note: str | UnsetType = UNSET
    games: tuple[BotGameRow, ...]
    matches: tuple[Head, ...]


@dataclass(slots=True)
class _SideSums:
    """The sums of one side under one heading."""

    matches: int = 0
    score: float = 0.0
    points: int = 0

    def add(self, score: float, points: int) -> None:
        self.matches += 1
        self.score += score
        self.points += points

    def means(self) -> tuple[int, float, float]:
        """Return matches, score and points as rows have them."""
        return self.matches, round(self.score / self.matches, 4), round(self.points / self.matches, 2)


@dataclass(slots=True)
class _Bot:
    """All that is added up of one bot."""

    all: _SideSums = field(default_factory=_SideSums)
    against: dict[str, Versus] = field(default_factory=dict[str, Versus])
    seats: dict[int, _SideSums] = field(default_factory=dict[int, _SideSums])
    games: dict[str, _SideSums] = field(default_factory=dict[str, _SideSums])
    faults: Counter[str] = field(default_factory=Counter[str])
    faulty: int = 0
    forfeits: Counter[str] = field(default_factory=Counter[str])
    asks: int = 0
    used_ms: int = 0
    slowest_ms: int = 0
    matches: list[Counted] = field(default_factory=list[Counted])


@dataclass(frozen=True, slots=True)
class Rated:
    """The ratings of matches, or why there are none."""

    ratings: Ratings | None
    why_not: str = ""


NOT_RATED: Final = Rated(None)


def rated(matches: Iterable[Counted]) -> Rated:
    """Rate matches, as `ratings.json` does. This takes seconds where they are very many."""
    outcomes = [match.outcome() for match in sorted(matches, key=lambda match: match.order)]
    try:
        return Rated(rate(outcomes))
    except RatingError as error:
        return Rated(None, str(error))


class Results:
    """The matches that count, added up one by one. `names` are bots that have a row before they play,
    `words` describe kinds of faults and reasons to forfeit. Unless it `knows_conduct`, rows have neither."""

    def __init__(
        self, names: Iterable[str] = (), words: Mapping[str, str] = NO_WORDS, *, knows_conduct: bool = True
    ) -> None:
        self._bots = {name: _Bot() for name in names}
        self._words = words
        self._knows_conduct = knows_conduct
        self._matches: list[Counted] = []

    def __len__(self) -> int:
        return len(self._matches)

    def __contains__(self, name: object) -> bool:
        return name in self._bots

    def counted(self) -> list[Counted]:
        """Return all matches in a list of its own, for a thread that rates them."""
        return [*self._matches]

    def add(self, match: Counted, conduct: Sequence[SideConduct] = ()) -> None:
        """Count a match. One in which a bot plays against itself says nothing about its strength.
        `conduct` has one for each side, if anything is known of it."""
        if len({*match.sides}) < len(match.sides) or len(match.sides) < 2:
            return
        self._matches.append(match)
        scores = scores_of(match.ranks)
        for side, (name, score, points) in enumerate(zip(match.sides, scores, match.points, strict=True)):
            bot = self._bots.setdefault(name, _Bot())
            bot.all.add(score, points)
            bot.seats.setdefault(side, _SideSums()).add(score, points)
            bot.games.setdefault(match.head.game, _SideSums()).add(score, points)
            bot.matches.append(match)
            self._add_opponents(bot, match, side)
            if conduct:
                _add_conduct(bot, conduct[side])

    def ranking(self, rated: Rated, out: Mapping[str, WhyOut], over: str, note: str = "") -> Ranking:
        """Return the rows in the order of the report: group by group, the best first, then bots without a
        rating by their scores, and last those that are out."""
        ratings = {} if rated.ratings is None else rated.ratings.by_name
        by_score = sorted(self._bots, key=lambda name: (-self._mean_score(name), name))
        place = {name: number for number, name in enumerate(ratings)}
        playing = [name for name in place if name in self._bots and name not in out]
        playing.sort(key=lambda name: ratings[name].group)
        names = [*playing, *(name for name in by_score if name not in ratings and name not in out)]
        for why in ("suspended", "disqualified"):
            names += [name for name in by_score if out.get(name) == why]
        several = len({ratings[name].group for name in playing}) > 1
        rows = tuple(self._make_row(name, ratings.get(name), out.get(name, UNSET), several) for name in names)
        notes = [note, rated.why_not if rated.ratings is None else ""]
        return Ranking(rows=rows, over=over, note=" ".join(filter(None, notes)) or UNSET)

    def bot_page(self, name: str, ranking: Ranking, rated: Rated) -> BotPage | None:
        """Return what is known of a bot. None if it is unknown."""
        bot = self._bots.get(name)
        rank = next((number for number, row in enumerate(ranking.rows, 1) if row.bot == name), None)
        if bot is None or rank is None:
            return None
        order = {row.bot: number for number, row in enumerate(ranking.rows)}
        others = sorted(bot.against, key=lambda other: (order.get(other, len(order)), other))
        return BotPage(
            row=ranking.rows[rank - 1],
            rank=rank,
            of=len(ranking.rows),
            over=ranking.over,
            note=ranking.note,
            against=tuple(_row_against(o, bot.against[o], _find_superiority(rated, name, o)) for o in others),
            seats=tuple(BotSeatRow(side, *bot.seats[side].means()) for side in sorted(bot.seats)),
            games=tuple(BotGameRow(game, *bot.games[game].means()) for game in sorted(bot.games)),
            faults=tuple(_list_reasons(bot.faults, self._words)),
            forfeits=tuple(_list_reasons(bot.forfeits, self._words)),
            times=Times(bot.asks, round(bot.used_ms / bot.asks, 2), bot.slowest_ms) if bot.asks else UNSET,
            matches=tuple(match.head for match in islice(reversed(bot.matches), LISTED)),
        )

    def pair_page(self, name: str, other: str, ranking: Ranking, rated: Rated) -> PairPage | None:
        """Return what is known of two bots. None if they have not met."""
        bot = self._bots.get(name)
        if bot is None or other not in bot.against:
            return None
        met = [match for match in bot.matches if other in match.sides]
        games: dict[str, Versus] = {}
        for match in met:
            sides = match.sides.index(name), match.sides.index(other)
            games.setdefault(match.head.game, Versus()).add(*map(match.finish, sides))
        return PairPage(
            bots=(name, other),
            row=_row_against(name, bot.against[other], _find_superiority(rated, name, other)),
            over=ranking.over,
            note=ranking.note,
            games=tuple(BotGameRow(game, *_means(games[game])) for game in sorted(games)),
            matches=tuple(match.head for match in islice(reversed(met), LISTED)),
        )

    # -- helpers -------------------------------------------------------------------------------------

    def _mean_score(self, name: str) -> float:
        sums = self._bots[name].all
        return sums.score / sums.matches if sums.matches else 0.0

    def _make_row(
        self, name: str, rating: Rating | None, out: WhyOut | UnsetType, several: bool
    ) -> RankingRow:
        bot = self._bots[name]
        sums = bot.all
        knows = self._knows_conduct
        return RankingRow(
            bot=name,
            matches=sums.matches,
            score=round(self._mean_score(name), 4),
            points=round(sums.points / sums.matches, 2) if sums.matches else 0.0,
            elo=UNSET if rating is None else hundredths(rating.elo),
            low=UNSET if rating is None else _round_elo(rating.low),
            high=UNSET if rating is None else _round_elo(rating.high),
            faults=bot.faulty,
            forfeits=bot.forfeits.total() if knows else UNSET,
            out=out,
            group=rating.group if several and rating is not None else UNSET,
        )

    def _add_opponents(self, bot: _Bot, match: Counted, side: int) -> None:
        for other_side, other in enumerate(match.sides):
            if other_side != side:
                bot.against.setdefault(other, Versus()).add(match.finish(side), match.finish(other_side))


def _row_against(bot: str, versus: Versus, likely_better: float | None) -> AgainstRow:
    matches, score, points = _means(versus)
    return AgainstRow(
        bot=bot,
        matches=matches,
        score=score,
        points=points,
        others_points=round(versus.others_points / matches, 2),
        better=versus.better,
        equal=versus.equal,
        worse=versus.worse,
        likely_better=UNSET if likely_better is None else round(likely_better, 4),
    )


def _means(versus: Versus) -> tuple[int, float, float]:
    """Return matches, score and points as rows have them."""
    return versus.matches, round(versus.score, 4), round(versus.points / versus.matches, 2)


def _add_conduct(bot: _Bot, conduct: SideConduct) -> None:
    bot.asks += conduct.asks
    bot.used_ms += conduct.used_ms
    bot.slowest_ms = max(bot.slowest_ms, conduct.slowest_ms)
    bot.faults.update(conduct.faults)
    bot.faulty += bool(conduct.faults)
    if conduct.forfeit is not None:
        bot.forfeits[conduct.forfeit] += 1


def _list_reasons(counts: Counter[str], words: Mapping[str, str]) -> Iterator[Reason]:
    for kind, matches in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        yield Reason(kind, words.get(kind, kind), matches)


def _find_superiority(rated: Rated, name: str, other: str) -> float | None:
    if rated.ratings is None:
        return None
    known = {rating.name for rating in rated.ratings.entrants}
    return rated.ratings.superiority(name, other) if {name, other} <= known else None


def _round_elo(elo: float | None) -> float | None:
    return None if elo is None else hundredths(elo)
