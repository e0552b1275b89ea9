"""The model for given matches: which parameters there are, and the matches as arrays.

Parameters are, in this order, the strength of each entrant, for each kind of table (a game and a number of
players) the term of each seat, and for each kind the logarithm of each d_t of its ties. Only differences of
strengths within a group of opponents mean something, and only differences of the seats of a kind: each of
these sets is held at mean 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stellwerk_tournament.ratings.choice_model import FloatArray, Stage, TableShape, Ties, stages
from stellwerk_tournament.ratings.outcomes import Outcome

IntArray = NDArray[np.int64]


class TableKind(NamedTuple):
    """Matches of a kind share the terms of seats and ties."""

    game: str
    size: int


@dataclass(frozen=True, slots=True)
class AlikeTables:
    """All matches of one shape, of any game."""

    stages: tuple[Stage, ...]  # with a column for each column of `parameters`
    parameters: IntArray  # a row for each match: entrants from best to worst, their seats, the ties
    blocks: IntArray  # of each match
    counts: FloatArray  # how often each stands for
    tied: tuple[int, ...]  # how many share each rank, from the top

    @property
    def size(self) -> int:
        """Return the number of entrants of a match, which are the first columns."""
        return sum(self.tied)

    def rows(self, chosen: NDArray[np.bool_] | slice) -> AlikeTables:
        return replace(
            self,
            parameters=self.parameters[chosen],
            blocks=self.blocks[chosen],
            counts=self.counts[chosen],
        )

    def merged(self) -> AlikeTables:
        """Merge all matches that are alike into one, with the block of one of them."""
        rows, firsts, counts = np.unique(self.parameters, axis=0, return_index=True, return_counts=True)
        return replace(self, parameters=rows, blocks=self.blocks[firsts], counts=counts.astype(np.float64))


@dataclass(frozen=True)
class Model:
    names: tuple[str, ...]  # of the entrants, in ascending order
    tables: tuple[AlikeTables, ...]
    seats: Mapping[TableKind, range]  # the parameters
    ties: Mapping[TableKind, Mapping[int, int]]  # the parameter of each order
    groups: tuple[IntArray, ...]  # of entrants
    precision: FloatArray  # of the normal prior of each parameter, around 0; 0 where there is none
    parameter_count: int
    block_count: int

    @cached_property
    def held_at_mean_0(self) -> tuple[IntArray, ...]:
        return (*self.groups, *(np.arange(seats.start, seats.stop) for seats in self.seats.values()))


def build_model(
    outcomes: Sequence[Outcome], ties: Ties, *, seats: bool, seatless: Collection[TableKind] = ()
) -> Model:
    """Make a model with all entrants in one group, and terms for every seat that a match names.

    The games in `seatless` have no such terms.
    """
    names = tuple(sorted({name for outcome in outcomes for name in outcome.entrants}))
    number = {name: i for i, name in enumerate(names)}
    blocks: dict[tuple[str, str | int], int] = {}
    rows: dict[_ShapeKey, _Rows] = {}
    tied_of: dict[tuple[int, ...], tuple[int, ...]] = {}
    for match, outcome in enumerate(outcomes):
        ranks = outcome.ranks
        places = sorted(range(len(ranks)), key=ranks.__getitem__)
        in_order = tuple(sorted(ranks))
        tied = tied_of.get(in_order)
        if tied is None:
            tied = tied_of[in_order] = tuple(len(list(group)) for _, group in groupby(in_order))
        has_terms = seats and (not seatless or TableKind(outcome.game, len(ranks)) not in seatless)
        seated = outcome.seats if has_terms else None
        key = (outcome.game, tied, seated is not None)
        same = rows.get(key)
        if same is None:
            same = rows[key] = _Rows([], [])
        same.places.append([number[outcome.entrants[place]] for place in places])
        if seated is not None:
            same.places[-1].extend(seated[place] for place in places)
        own = (outcome.game, match if outcome.block is None else outcome.block)
        same.blocks.append(blocks.setdefault(own, len(blocks)))
    seat_terms, tie_terms, parameter_count = _lay_out(rows, ties, len(names))
    return Model(
        names=names,
        tables=tuple(_tables(rows, ties, seat_terms, tie_terms)),
        seats=seat_terms,
        ties=tie_terms,
        groups=(np.arange(len(names)),),
        precision=np.zeros(parameter_count),
        parameter_count=parameter_count,
        block_count=len(blocks),
    )


def with_seat_prior(model: Model, precision: float) -> Model:
    """Draw the terms of seats towards 0."""
    each = np.zeros(model.parameter_count)
    for seats in model.seats.values():
        each[seats.start : seats.stop] = precision
    return replace(model, precision=each)


def wins_or_ties(model: Model) -> NDArray[np.bool_]:
    """Return a matrix with row i, column j: i has won against j or tied with it."""
    beats = np.zeros((len(model.names), len(model.names)), dtype=np.bool_)
    for tables in model.tables:
        level = np.repeat(np.arange(len(tables.tied)), tables.tied)
        for better in range(tables.size):
            for worse in range(tables.size):
                if level[better] <= level[worse]:
                    beats[tables.parameters[:, better], tables.parameters[:, worse]] = True
    return beats


def blocks_won_and_lost(model: Model) -> tuple[IntArray, IntArray]:
    """Count in how many blocks each entrant was better than another, and worse; a tie is both."""
    won: list[IntArray] = []
    lost: list[IntArray] = []
    for tables in model.tables:
        level = np.repeat(np.arange(len(tables.tied)), tables.tied)
        alone = np.array(tables.tied)[level] == 1
        keys = tables.parameters[:, : tables.size] * model.block_count + tables.blocks[:, None]
        won.append(keys[:, ~(alone & (level == level[-1]))].ravel())
        lost.append(keys[:, ~(alone & (level == 0))].ravel())
    counts = [
        np.bincount(np.unique(np.concatenate(keys)) // model.block_count, minlength=len(model.names))
        for keys in (won, lost)
    ]
    return counts[0], counts[1]


_ShapeKey: TypeAlias = tuple[str, tuple[int, ...], bool]  # game, sizes of ties, whether there are seats


class _Rows(NamedTuple):
    places: list[list[int]]  # entrants from best to worst, and their seats if they are named
    blocks: list[int]


def _tables(
    rows: Mapping[_ShapeKey, _Rows],
    ties: Ties,
    seats: Mapping[TableKind, range],
    tie_terms: Mapping[TableKind, Mapping[int, int]],
) -> Iterator[AlikeTables]:
    """Group the games that differ only in which parameters they have."""
    alike: dict[tuple[TableShape, bool], list[tuple[IntArray, list[int]]]] = {}
    for (game, tied, has_seats), same in sorted(rows.items()):
        size = sum(tied)
        kind = TableKind(game, size)
        parameters = np.array(same.places, dtype=np.int64)
        if has_seats:
            parameters[:, size:] += seats[kind].start
        terms = np.array(list(tie_terms[kind].values()), dtype=np.int64)
        columns = np.broadcast_to(terms, (len(parameters), len(terms)))
        shape = TableShape(tied, tuple(tie_terms[kind]))
        alike.setdefault((shape, has_seats), []).append((np.hstack([parameters, columns]), same.blocks))
    for (shape, has_seats), parts in alike.items():
        narrow = stages(shape, ties)
        blocks = np.concatenate([np.array(blocks, dtype=np.int64) for _, blocks in parts])
        yield AlikeTables(
            stages=tuple(_with_seats(stage, sum(shape.tied)) for stage in narrow) if has_seats else narrow,
            parameters=np.vstack([parameters for parameters, _ in parts]),
            blocks=blocks,
            counts=np.ones(len(blocks)),
            tied=shape.tied,
        )


def _with_seats(stage: Stage, size: int) -> Stage:
    """Add the seat's term to the entrant's strength in the utility of each place."""
    return replace(stage, design=np.hstack([stage.design[:, :size], stage.design]))


def _lay_out(
    shapes: Iterable[_ShapeKey], ties: Ties, entrant_count: int
) -> tuple[dict[TableKind, range], dict[TableKind, dict[int, int]], int]:
    """Assign numbers to the parameters of seats and ties, and return how many parameters there are."""
    seated: set[TableKind] = set()
    orders: dict[TableKind, set[int]] = {}
    for game, tied, has_seats in shapes:
        kind = TableKind(game, sum(tied))
        orders.setdefault(kind, set()).update(tied if ties == "davidson" else ())
        if has_seats:
            seated.add(kind)
    count = entrant_count
    seats: dict[TableKind, range] = {}
    for kind in sorted(seated):
        seats[kind] = range(count, count + kind.size)
        count += kind.size
    tie_terms: dict[TableKind, dict[int, int]] = {}
    for kind in sorted(orders):
        terms = sorted(orders[kind] - {1})
        tie_terms[kind] = {order: count + i for i, order in enumerate(terms)}
        count += len(terms)
    return seats, tie_terms, count


# -- likelihood --------------------------------------------------------------------------------------

CELLS_AT_ONCE: Final = 20_000  # of the second derivatives of matches: what a cache holds, 4 times as fast


class Derivatives(NamedTuple):
    log_likelihood: float
    score: FloatArray  # the first derivatives
    information: FloatArray  # minus the second derivatives


class LocalTerms(NamedTuple):
    """The terms of each of some matches, for the parameters in its row."""

    tables: AlikeTables
    log_likelihood: FloatArray
    score: FloatArray
    information: FloatArray  # matches x columns x columns


def pieces(all_tables: Sequence[AlikeTables]) -> Iterator[AlikeTables]:
    """Yield so few matches at once that the arrays stay small."""
    for tables in all_tables:
        width = tables.parameters.shape[1]
        step = max(1, CELLS_AT_ONCE // (width * width))
        for start in range(0, len(tables.blocks), step):
            yield tables.rows(slice(start, start + step))


def local_terms(tables: AlikeTables, parameters: FloatArray) -> LocalTerms:
    values = parameters[tables.parameters]
    count, width = values.shape
    log_likelihood = np.zeros(count)
    score = np.zeros((count, width))
    information = np.zeros((count, width, width))
    for stage in tables.stages:
        choice = choices(stage, values)
        log_likelihood += stage.weight * (choice.logits @ stage.response - choice.log_sum)
        score += stage.weight * (stage.response @ stage.design - choice.mean)
        squares = (choice.shares @ products(stage)).reshape(count, width, width)
        information += stage.weight * (squares - choice.mean[:, :, None] * choice.mean[:, None, :])
    return LocalTerms(tables, log_likelihood, score, information)


class Choices(NamedTuple):
    """A stage in each of some matches."""

    logits: FloatArray
    log_sum: FloatArray
    shares: FloatArray  # the probability of each alternative
    mean: FloatArray  # what is chosen on average: shares x design


def choices(stage: Stage, values: FloatArray) -> Choices:
    logits = values @ stage.design.T
    top = logits.max(axis=1, keepdims=True)
    weights = np.exp(logits - top)
    sums = weights.sum(axis=1, keepdims=True)
    shares = weights / sums
    return Choices(logits, (np.log(sums) + top)[:, 0], shares, shares @ stage.design)


def products(stage: Stage) -> FloatArray:
    """Return for each alternative the products of all pairs of columns, flat."""
    return (stage.design[:, :, None] * stage.design[:, None, :]).reshape(len(stage.design), -1)


def derivatives(model: Model, parameters: FloatArray) -> Derivatives:
    total = 0.0
    score = np.zeros(model.parameter_count)
    information = np.zeros((model.parameter_count, model.parameter_count))
    for piece in pieces(model.tables):
        terms = local_terms(piece, parameters)
        total += float(piece.counts @ terms.log_likelihood)
        add_vector(score, piece, piece.counts[:, None] * terms.score)
        add_matrix(information, piece, piece.counts[:, None, None] * terms.information)
    total -= float(model.precision @ np.square(parameters)) / 2
    score -= model.precision * parameters
    information += np.diag(model.precision)
    return Derivatives(total, score, information)


def add_vector(total: FloatArray, tables: AlikeTables, local: FloatArray) -> None:
    np.add.at(total, tables.parameters.ravel(), local.ravel())


def add_matrix(total: FloatArray, tables: AlikeTables, local: FloatArray) -> None:
    cells = tables.parameters[:, :, None] * len(total) + tables.parameters[:, None, :]
    np.add.at(total.reshape(-1), cells.ravel(), local.ravel())
