"""The check of a block's results: nothing counts because somebody says so.

Law: a match counts if its replay was dealt from the block's own secret, is true when it is played again, and
ended as its line says; if its line is one of this block, with the bots, the game and the board of the
tournament; and if its faults agree with the marks of its replay. Measurements of the other machine are taken
as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256

import msgspec
from msgspec import UNSET

from stellwerk_protocol.answer_times import MAX_BYTES, read_times
from stellwerk_server.journal.journal import revealed
from stellwerk_tournament.blocks.files import BlockFileError, BlockResult
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.courier import DueBlock, PlayedBlock, PlayedMatch
from stellwerk_tournament.report.verify import wrong_content, wrong_line
from stellwerk_tournament.schedule.deal import match_id, salt


def checked(result: BlockResult, settings: Settings, due: DueBlock) -> PlayedBlock:
    """Return the matches of a result that are due. BlockFileError with the first thing that is wrong.

    It can have more matches than are due: some may have been played here meanwhile.
    """
    rotations = [record.line.rotation for record in result.matches]
    if len(set(rotations)) < len(rotations) or not set(rotations) <= set(due.block.rotations):
        raise BlockFileError(f"does not have each match of block {due.block.number} once")
    if missing := [rotation for rotation in due.rotations if rotation not in rotations]:
        raise BlockFileError(f"is incomplete: rotation {missing[0]} of block {due.block.number} is missing")
    for record in result.matches:
        for message in _wrong(record, settings, due):
            raise BlockFileError(f"block {due.block.number}, rotation {record.line.rotation}: {message}")
    matches = {record.line.rotation: record for record in result.matches}
    return PlayedBlock(
        tuple(matches[rotation] for rotation in due.rotations),
        tuple(each for each in result.failures if each[0] in due.rotations),
        next((each.line.machine.name for each in result.matches if each.line.machine is not UNSET), ""),
    )


def _wrong(record: PlayedMatch, settings: Settings, due: DueBlock) -> Iterator[str]:
    block, secret, line = due.block, due.seed, record.line
    choice = settings.variants[block.variant].choice
    if (line.block, line.round) != (block.number, block.round) or line.players != block.teams(line.rotation):
        yield "its line is of another block"
    game = (line.game, len(line.bots), line.options, line.board)
    if game != (choice.game_id, choice.seat_count, choice.options, choice.board.digest):
        yield "its line is of another game"
    if line.match != match_id(secret, line.rotation) or line.deal != "same_in_block" or line.seed:
        yield "it was dealt otherwise"
    if line.replay or line.replay_sha256 or line.forfeits or line.ranks_by_rules:
        yield "its line has what only the tournament's folder can know"
    if [name for name, _ in record.printed] != [seat.bot for seat in line.bots]:
        yield "what its bots printed is not that of its bots"
    if problem := _wrong_times(record):
        yield problem
    try:
        content = revealed(record.replay, secret, salt(secret, line.rotation))
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
        yield "its replay cannot be read"
        return
    told = msgspec.structs.replace(
        line, seed=secret.hex(), replay="a replay", replay_sha256=sha256(content).hexdigest()
    )
    first = msgspec.structs.replace(told, rotation=0, players=block.entrants)
    yield from wrong_line(settings, first, told, set(settings.names), Counter())
    yield from (f"its replay{message}" for message in wrong_content(content, told))


def _wrong_times(record: PlayedMatch) -> str:
    """Say what is wrong with the file of the answers' times, which nobody can verify. It is published."""
    try:
        times = read_times(record.times)
    except msgspec.DecodeError:
        return "the times of its answers cannot be read"
    if len(record.times) > MAX_BYTES or (times.match, len(times.seats)) != (
        record.line.match,
        len(record.line.bots),
    ):
        return "the times of its answers are of another match"
    return ""
