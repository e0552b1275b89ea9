"""Errors of a fit from how much the blocks disagree.

The matches of a block share their luck: one deal, played in every rotation of the seats. So the block is what
counts as one observation, and the covariance is the sandwich of the sums of scores of whole blocks
(K.-Y. Liang and S. L. Zeger 1986). The usual errors, from the information alone, take every match for
independent.

A sandwich from few blocks is too thin, because the fit has adapted to each of them. Each block's score is
therefore corrected by its leverage, as R. M. Bell and D. F. McCaffrey did it in 2002 ("bias-reduced
linearization", CR2, in the generalized form of J. E. Pustejovsky and E. Tipton 2018), and intervals use
Student's t. Its degrees of freedom are one less than the effective number of blocks that inform about a
parameter: (sum of information)^2 / (sum of squared information), which for equal blocks is their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from stellwerk_tournament.ratings.choice_model import FloatArray
from stellwerk_tournament.ratings.fit import Fit
from stellwerk_tournament.ratings.model import IntArray, Model, local_terms, pieces

CELLS_AT_ONCE: Final = 200_000  # of the blocks' own information matrices: 1.6 MB
DETERMINED: Final = 1 - 1e-8  # leverage of a block that alone determines a parameter: it shows no error


class BlockErrors(NamedTuple):
    covariance: FloatArray
    freedom: FloatArray  # degrees of freedom of each parameter
    blocks: IntArray  # that inform about each parameter


class _Blocks(NamedTuple):
    """Some blocks, and for each the parameters that it informs about; these are the entries."""

    entry_blocks: IntArray
    entry_parameters: IntArray
    scores: FloatArray  # of each entry
    information: FloatArray  # of the entries of each block a square, flat, block after block


def block_errors(model: Model, fit: Fit) -> BlockErrors:
    count = model.parameter_count
    meat = np.zeros(count * count)
    information_sum = np.zeros(count)
    information_squares = np.zeros(count)
    blocks = np.zeros(count, dtype=np.int64)
    for some in _blocks(model, fit):
        widths = np.bincount(some.entry_blocks)
        first_entry = np.cumsum(widths) - widths
        first_cell = np.cumsum(widths * widths) - widths * widths
        for width in sorted({int(width) for width in widths}):
            chosen = widths == width
            entries = first_entry[chosen, None] + np.arange(width)
            cells = first_cell[chosen, None] + np.arange(width * width)
            parameters = some.entry_parameters[entries]
            information = some.information[cells].reshape(-1, width, width)
            inverse = fit.inverse[parameters[:, :, None], parameters[:, None, :]]
            scores = _corrected(some.scores[entries], information, inverse)
            products = scores[:, :, None] * scores[:, None, :]
            where = parameters[:, :, None] * count + parameters[:, None, :]
            np.add.at(meat, where.ravel(), products.ravel())
            own = np.diagonal(information, axis1=1, axis2=2)
            np.add.at(information_sum, parameters, own)
            np.add.at(information_squares, parameters, np.square(own))
            np.add.at(blocks, parameters, 1)
    effective = np.square(information_sum) / np.where(information_squares > 0, information_squares, 1.0)
    freedom = np.round(effective - 1, 9)  # two equal blocks have 1, and not a little less
    covariance = fit.response @ meat.reshape(count, count) @ fit.response
    return BlockErrors(covariance, freedom, blocks)


def _corrected(scores: FloatArray, information: FloatArray, inverse: FloatArray) -> FloatArray:
    """Compute (1 - information x inverse)^(-1/2) x score for each block, through a symmetric matrix."""
    root = np.linalg.cholesky(inverse)
    turned = root.transpose(0, 2, 1)
    leverages, axes = np.linalg.eigh(turned @ information @ root)
    stretch = np.where(leverages < DETERMINED, 1 / np.sqrt(np.maximum(1 - leverages, 1 - DETERMINED)), 0.0)
    along_axes = axes.transpose(0, 2, 1) @ (turned @ scores[:, :, None])
    corrected = np.linalg.solve(turned, axes @ (stretch[:, :, None] * along_axes))
    return np.asarray(corrected[:, :, 0], dtype=np.float64)


def _blocks(model: Model, fit: Fit) -> Iterator[_Blocks]:
    """Yield all blocks, so many at once that their matrices stay small."""
    batch_of_block = _batches(model)
    for batch in range(int(batch_of_block[-1]) + 1):
        first = int(np.searchsorted(batch_of_block, batch))
        chosen = [tables.rows(batch_of_block[tables.blocks] == batch) for tables in model.tables]
        keys = [
            (tables.blocks[:, None] - first) * model.parameter_count + tables.parameters
            for tables in pieces(chosen)
        ]
        entries = np.unique(np.concatenate([key.ravel() for key in keys]))
        entry_blocks = entries // model.parameter_count
        widths = np.bincount(entry_blocks)
        first_entry = np.cumsum(widths) - widths
        first_cell = np.cumsum(widths * widths) - widths * widths
        scores = np.zeros(len(entries))
        information = np.zeros(int((widths * widths).sum()))
        for key, tables in zip(keys, pieces(chosen), strict=True):
            terms = local_terms(tables, fit.parameters)
            places = np.searchsorted(entries, key)
            np.add.at(scores, places.ravel(), terms.score.ravel())
            block = tables.blocks - first
            within = places - first_entry[block, None]
            cells = (first_cell[block, None] + within * widths[block, None])[:, :, None] + within[:, None, :]
            np.add.at(information, cells.ravel(), terms.information.ravel())
        yield _Blocks(entry_blocks, entries % model.parameter_count, scores, information)


def _batches(model: Model) -> IntArray:
    """Assign each block to a batch, in ascending order. A block counts with the most entries it can have."""
    columns = np.zeros(model.block_count)
    for tables in model.tables:
        columns += tables.parameters.shape[1] * np.bincount(tables.blocks, minlength=model.block_count)
    cells = np.square(np.minimum(columns, model.parameter_count))
    batches = (np.cumsum(cells) // CELLS_AT_ONCE).astype(np.int64)
    _, consecutive = np.unique(batches, return_inverse=True)
    return np.asarray(consecutive, dtype=np.int64)
