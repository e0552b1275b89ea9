"""The check of a block's results: nothing counts because somebody says so.

Law: a match counts if its replay was dealt from the block's own secret, is true when it is played again, and
ended as its line says; if its line is one of this block, with the bots, the game, the board and the sandbox
of the tournament; and if its faults agree with the marks of its replay. What the other machine has measured
cannot be proven, but it has the form and the size of measurements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from typing import Final

import msgspec
from msgspec import UNSET

from stellwerk_base.texts import shown
from stellwerk_processes.bench.levels import Confinement
from stellwerk_processes.bot_spec import STARTED
from stellwerk_protocol.answer_times import MAX_BYTES, read_times
from stellwerk_server.journal.journal import revealed
from stellwerk_tournament.blocks.files import BlockFileError, BlockResult
from stellwerk_tournament.config.settings import Settings
from stellwerk_tournament.play.courier import DueBlock, PlayedBlock, PlayedMatch
from stellwerk_tournament.play.matches_here import ATTEMPTS
from stellwerk_tournament.report.verify import wrong_content, wrong_line
from stellwerk_tournament.schedule.deal import match_id, salt
from stellwerk_tournament.store.match_line import MOST_NAME, MatchLine, encode, is_name

MOST_MEASURED: Final = 10**12  # milliseconds or kilobytes: more than a match can take
MOST_LINE_BYTES: Final = 2**18  # a line has some kilobytes, with faults of all bots some tens
MOST_PRINTED: Final = 2**17  # characters: PRINTED_BYTES, with paths of the machine replaced
MOST_CAUSE: Final = 1000  # characters
_MEASURED: Final = (
    *("defaults", "asks", "used_ms", "slowest_ms", "cpu_ms", "answer_cpu_ms", "slowest_answer_cpu_ms"),
    *("waited_ms", "stolen_ms", "processors", "max_rss_kb"),
)


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
        for message in chain(_wrong_size(record), _wrong(record, settings, due)):
            raise BlockFileError(f"block {due.block.number}, rotation {record.line.rotation}: {message}")
    matches = {record.line.rotation: record for record in result.matches}
    failures = [each for each in result.failures if each[0] in due.rotations]
    if len(failures) > (ATTEMPTS - 1) * len(due.rotations):
        raise BlockFileError(f"says that matches of block {due.block.number} failed {len(failures):,} times")
    return PlayedBlock(
        tuple(matches[rotation] for rotation in due.rotations),
        tuple((rotation, shown(cause, MOST_CAUSE)) for rotation, cause in failures),
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
    if line.machine is UNSET:
        yield "its line does not name the machine that played it"
    if problem := _wrong_sandbox(line, settings.confinement):
        yield problem
    if logs := [seat.bot for seat in line.bots if seat.log is not UNSET]:
        yield f"names a file with what {logs[0]} printed, which is not here"
    if suspended := [seat.bot for seat in line.bots if seat.suspended and seat.bot not in due.suspended]:
        yield f"{suspended[0]} was kept away as suspended, and is not suspended"
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
    yield from (
        f"its replay{message}" for message in wrong_content(content, told, anonymous=settings.anonymous)
    )


def _wrong_sandbox(line: MatchLine, confinement: Confinement) -> str:
    """Say what a line claims of the sandbox beside its order. `verify` compares the level that held."""
    if line.sandbox is UNSET:
        is_needed = confinement.needs_proof and any(seat.process in STARTED for seat in line.bots)
        return "its line does not say what was tried of the sandbox" if is_needed else ""
    asked = line.sandbox.asked
    if not confinement.wrap and asked != confinement.own_level:
        return f"sandbox.asked: its order asks for {confinement.own_level}, not {asked}"
    return ""


def _wrong_size(record: PlayedMatch) -> Iterator[str]:
    """Yield what no machine can have measured or printed."""
    line = record.line
    numbers: dict[str, float] = {"late_ms": line.late_ms, "seconds": line.seconds}
    if line.machine is not UNSET:
        numbers["machine.engine_ms"] = line.machine.engine_ms
        if not is_name(line.machine.name):
            yield f"machine.name: expected 1 to {MOST_NAME} characters that can be printed"
    if line.sandbox is not UNSET:
        numbers["sandbox.landlock_abi"] = line.sandbox.landlock_abi
    for seat in line.bots:
        measured: dict[str, object] = {name: getattr(seat, name) for name in _MEASURED}
        measured |= {f"faults[{number}].count": fault.count for number, fault in enumerate(seat.faults, 1)}
        numbers |= {
            f"bots[{seat.seat + 1}].{name}": value
            for name, value in measured.items()
            if isinstance(value, int | float)
        }
    for name, number in numbers.items():
        if not 0 <= number <= MOST_MEASURED:
            yield f"{name}: expected 0 to {MOST_MEASURED:,}"
    if len(encode(line)) > MOST_LINE_BYTES:
        yield f"its line has more than {MOST_LINE_BYTES:,} bytes"
    if sum(len(text) for _, lines in record.printed for text in lines) > MOST_PRINTED * len(line.bots):
        yield f"its bots printed more than the {MOST_PRINTED:,} characters each that a machine keeps"


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
