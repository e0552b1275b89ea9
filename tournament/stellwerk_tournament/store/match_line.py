"""A line of `matches.jsonl`: one match, complete, with the seed that it was dealt from.

Law: only matches of complete blocks are in it, all matches of a block one after the other. So the file can
be read without anything else: nothing in it is to be left out, and nothing is missing that a later line would
take back. Ratings read the same lines (`outcomes.py`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stellwerk_engine.replays.blind_draws import BlindDraws, blind_draws
from stellwerk_processes.bench.levels import Isolation, SandboxRecord
from stellwerk_processes.seat_report import SeatReport, seat_reports
from stellwerk_protocol.names import Count, Digits64, EndReason, Points, Seat
from stellwerk_tournament.ratings.outcomes import Outcome, is_twice

if TYPE_CHECKING:
    from stellwerk_processes.started_match import MatchResult
    from stellwerk_tournament.schedule.schedule import Block

FILE: Final = "matches.jsonl"
MOST_NAME: Final = 100  # characters of a machine's name

DealKind: TypeAlias = Literal["same_in_block", "new_each_match"]
ForfeitReason: TypeAlias = Literal["suspended", "never_started", "absent", "gone", "defaults"]


class Forfeit(Struct, frozen=True):
    """A forfeit of the bot that plays a team, with its reason (`conduct.py`)."""

    team: int
    bot: str
    reason: ForfeitReason


class MachineRecord(Struct, frozen=True, omit_defaults=True):
    """A machine that played a block for the runner. `name` tells it from the others.
    `engine_ms`: how long it took there to play a fixed number of fixed games on the engine. `failed_on` names
    the machines that could not play the match before, once for each time."""

    name: str
    engine_ms: float
    failed_on: tuple[str, ...] = ()


def is_name(name: str) -> bool:
    """Return whether a machine can have this name."""
    return 0 < len(name) <= MOST_NAME and name.isprintable()


class MatchLine(Struct, frozen=True, omit_defaults=True):
    """A match. `players`, `seats`, `ranks` and `points` have one for each team: which bot played it, where it
    sat, and how it ended. `bots` has one for each seat. `deal`: whether all matches of the block were dealt
    from one seed, or each from its own, as it is with remote bots. `attempt` counts from 1. `late_ms`: for
    how long the clock stood still because the server was late. `replay_sha256` is that of the file.

    `ranks` are those that count, with the `forfeits`; `ranks_by_rules`, `points` and `bots` are as the match
    ended. Without any conduct, as in a gate, there are no `ranks_by_rules`. `sandbox`: what was tried of the
    sandbox before the tournament went on, if anything was. `machine`: where the block was played, if not by
    the runner itself. `versions` of the players (`config/versions.py`), as they were when the match began;
    empty where a version is not known. `blind_draws` has the locomotives that each player drew blind."""

    block: Count
    rotation: Count
    round: Count
    match: str
    game: str
    rules_version: int
    options: tuple[str, ...]
    board: Digits64
    players: tuple[str, ...]
    seats: tuple[tuple[Seat, ...], ...]
    ranks: tuple[int, ...]
    points: tuple[Points, ...]
    turns: Count
    reason: EndReason
    bots: tuple[SeatReport, ...]
    isolation: Isolation
    deal: DealKind
    attempt: int
    late_ms: int
    seconds: float
    seed: str = ""
    replay: str = ""
    replay_sha256: str = ""
    ranks_by_rules: tuple[int, ...] = ()
    forfeits: tuple[Forfeit, ...] = ()
    sandbox: SandboxRecord | UnsetType = UNSET
    machine: MachineRecord | UnsetType = UNSET
    versions: tuple[str, ...] = ()
    blind_draws: tuple[BlindDraws, ...] = ()

    @property
    def by_rules(self) -> tuple[int, ...]:
        """Return the ranks without forfeits."""
        return self.ranks_by_rules or self.ranks


@dataclass(frozen=True, slots=True)
class WholeBlock:
    """The matches of a block, and their lines."""

    matches: Sequence[MatchLine]
    text: bytes


class MatchLinesError(ValueError):
    """Damage of the file that is more than a torn end. The message begins with the number of the line."""


class Played(NamedTuple):
    """The part of a match that counts for ratings, tables to come and suspensions."""

    block: int
    round: int
    game: str
    players: tuple[str, ...]
    ranks: tuple[int, ...]
    forfeits: tuple[Forfeit, ...]


Match = TypeVar("Match", bound=MatchLine | Played)

decode: Final = msgspec.json.Decoder(MatchLine).decode
encode: Final = msgspec.json.Encoder().encode


def line_of_result(
    block: Block, rotation: int, played: MatchResult, isolation: Isolation, seconds: float
) -> MatchLine:
    """Describe a match of a block that was played. The attempt is still missing, and so is what is known when
    the block is complete: the seed that its matches share, and where the replay is."""
    plan, result = played.plan, played.result
    game, has_own_deal = plan.game, not plan.reveal_later
    return MatchLine(
        block=block.number,
        rotation=rotation,
        round=block.round,
        match=plan.match,
        game=game.id,
        rules_version=game.rules.rules_version,
        options=game.options,
        board=game.board.file.digest,
        players=block.teams(rotation),
        seats=game.seats_of_team,
        ranks=tuple(team.rank for team in result.teams),
        points=tuple(team.points for team in result.teams),
        turns=result.turns,
        reason=result.reason,
        bots=seat_reports(result, played.seats),
        isolation=isolation,
        deal="new_each_match" if has_own_deal else "same_in_block",
        attempt=1,
        late_ms=round(played.late_ms),
        seconds=round(seconds, 3),
        seed=plan.seed.hex() if has_own_deal else "",
        blind_draws=blind_draws(played.events, game.seats_of_team),
    )


def line_of(match: MatchLine) -> bytes:
    return encode(match) + b"\n"


@dataclass(slots=True)
class WholeBlocks:
    """The whole blocks of a file that a runner may have left when it was killed, one after the other.

    `texts` are lines with their newlines, as an open file yields them. Blocks in `before`, and the first
    `line_count` lines, were read earlier. After the last block, `size` is how many bytes all of them take,
    and `cut` describes what follows them: a torn line, or the beginning of a block."""

    texts: Iterable[bytes]
    before: Container[int] = frozenset[int]()
    line_count: int = 0
    size: int = 0
    cut: str = ""

    def __iter__(self) -> Iterator[WholeBlock]:
        """Yield the blocks. MatchLinesError at the first line that cannot be one of them."""
        matches: list[MatchLine] = []
        texts: list[bytes] = []
        seen: set[int] = set()
        torn = ""
        for number, text in enumerate(self.texts, self.line_count + 1):
            if not text.endswith(b"\n"):
                torn = f"{len(text)} bytes of a torn line"
                break
            try:
                match = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise MatchLinesError(f"line {number}: no record of a match: {error}") from None
            block = match.block
            if matches and block != matches[0].block:
                raise MatchLinesError(
                    f"line {number - len(matches)}: block {matches[0].block} is not complete"
                )
            if block in seen or block in self.before or match.rotation < len(matches):
                raise MatchLinesError(f"line {number}: {is_twice(block)}")
            if match.rotation > len(matches) or match.rotation >= len(match.players):
                raise MatchLinesError(
                    f"line {number}: block {block} does not have each of its rotations once"
                )
            matches.append(match)
            texts.append(text)
            if len(matches) == len(matches[0].players):
                seen.add(block)
                whole = WholeBlock(matches, b"".join(texts))
                self.size += len(whole.text)
                yield whole
                matches, texts = [], []
        begun = ""
        if matches:
            begun = f"the first {len(matches)} of {len(matches[0].players)} lines of block {matches[0].block}"
        self.cut = " and ".join(filter(None, [begun, torn]))


def blocks_of(matches: Iterable[Match]) -> Iterator[tuple[Match, ...]]:
    """Yield the matches of each block, in their order."""
    for _, of_block in groupby(matches, key=lambda match: match.block):
        yield tuple(of_block)


def outcome_of(match: MatchLine | Played) -> Outcome:
    """Return what ratings need of a match."""
    seats = tuple(range(len(match.players)))
    return Outcome(match.players, match.ranks, seats, str(match.block), match.game)
