"""Whatever pairs a field is played by the runner as it is: here a field that is open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import trio

from stellwerk.shared.house_bots import house_bots
from stellwerk_processes.standing_server import StandingServer
from stellwerk_tournament.config.settings import FILE, Entrant, Settings, parse, settings_of
from stellwerk_tournament.play.matches_here import Conditions
from stellwerk_tournament.play.progress import BlockEnded
from stellwerk_tournament.play.record import Record
from stellwerk_tournament.play.runner import Surroundings, play_tournament
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.match_line import MatchLine, blocks_of
from stellwerk_tournament.store.store import KnownBlock, open_store, read_matches
from tests.tournament.play.fakes import Witness

BLOCKS = 6
FIELD = {"ann": "random", "bea": "greedy", "cat": "random", "dot": "beginner"}


class OpenField:
    """Pairs two bots that are free and have never met, with scores as near to each other as possible."""

    total = None

    def __init__(
        self,
        bots: Sequence[Entrant],
        record: Record,
        known: Mapping[int, KnownBlock],
        wake: Callable[[], object],
    ) -> None:
        self._all = {entrant.name: entrant for entrant in bots}
        self._record = record
        self._again = [each.block for each in known.values() if each.status in ("queued", "running")]
        self._given = [each.block for each in known.values()]
        self._over = sum(each.status == "complete" for each in known.values())
        self.entrants: dict[str, Entrant] = {}
        self.join(*(self._all if known else ("ann", "bea")))
        self.wake = wake

    def join(self, *names: str) -> None:
        self.entrants |= {name: self._all[name] for name in names}

    @property
    def is_over(self) -> bool:
        return self._over == BLOCKS

    def due(self, running: Collection[Block]) -> Sequence[Block]:
        if self._again:
            again, self._again = self._again, []
            return again
        busy = {name for block in running for name in block.entrants}
        ranking = [name for name in self._record.results.standings.order() if name in self.entrants]
        ranking += [name for name in self.entrants if name not in ranking]
        met = [set(block.entrants) for block in self._given]
        pairs = [pair for pair in combinations(ranking, 2) if busy.isdisjoint(pair) and set(pair) not in met]
        if not pairs:
            return ()
        nearest = min(pairs, key=lambda pair: ranking.index(pair[1]) - ranking.index(pair[0]))
        self._given.append(Block(len(self._given), 0, 0, 0, nearest))
        return self._given[-1:]

    def ended(self, block: Block, lines: Sequence[MatchLine]) -> None:
        self._over += 1


def field_in(folder: Path) -> Settings:
    processes = {"ann": "fresh", "bea": "house", "cat": "reused", "dot": "fresh"}
    tables = (
        f'[[bots]]\nname = "{name}"\nbuilt_in = "{bot}"\nprocess = "{processes[name]}"\n'
        for name, bot in FIELD.items()
    )
    (folder / FILE).write_text(
        'concurrency = 2\nsandbox = "limits"\n[[games]]\ngame = "usa"\n' + "".join(tables)
    )
    return settings_of(parse(folder), folder)


def play(folder: Path, on_third: Callable[[], object] = lambda: None) -> bool:
    """Play an open field with real bots. Two of them come when all that was due has been played."""
    settings = field_in(folder)
    fields: list[OpenField] = []
    first_over = trio.Event()

    def open_field(record: Record, known: Mapping[int, KnownBlock], wake: Callable[[], object]) -> OpenField:
        fields.append(OpenField(settings.entrants, record, known, wake))
        return fields[0]

    async def arrive(_: StandingServer | None, _url: str, ready: Callable[[], object]) -> None:
        ready()
        await first_over.wait()
        fields[0].join("cat", "dot")
        fields[0].wake()

    def hear(_: BlockEnded) -> None:
        first_over.set()
        if len(witness.blocks) == 3:
            on_third()

    witness = Witness(on_block=hear)
    with open_store(folder) as opened:
        run = partial(play_tournament, around=Surroundings(beside=arrive), new_source=open_field)
        first_two = replace(settings, entrants=settings.entrants[:2])
        return trio.run(run, first_two, opened, witness, Conditions(house_bots=house_bots()))


def expect_all_played(folder: Path) -> None:
    blocks = {lines[0].block: lines for lines in blocks_of(read_matches(folder))}
    assert sorted(blocks) == list(range(BLOCKS))
    assert {frozenset(lines[0].players) for lines in blocks.values()} == {
        frozenset(pair) for pair in combinations(FIELD, 2)
    }
    assert all(len(lines) == 2 and not lines[0].forfeits for lines in blocks.values())


def test_bots_that_join_while_others_play_are_paired_and_played(tmp_path: Path) -> None:
    """All bots meet once, though only two of them are there when the runner begins."""
    assert play(tmp_path)
    assert set(next(read_matches(tmp_path)).players) == {"ann", "bea"}
    expect_all_played(tmp_path)


def test_a_runner_that_is_resumed_finishes_the_blocks_of_an_open_field(tmp_path: Path) -> None:
    """It ends while three blocks have begun or are to begin."""

    class StoppedError(Exception):
        """The end of a runner in the middle."""

    def stop() -> None:
        raise StoppedError

    with suppress(BaseExceptionGroup):
        play(tmp_path, stop)
    assert len(list(blocks_of(read_matches(tmp_path)))) == 3
    assert play(tmp_path)
    expect_all_played(tmp_path)
