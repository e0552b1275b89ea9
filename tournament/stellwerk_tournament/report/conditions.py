"""The conditions of the report: what was played, under which rules and clocks, and in which isolation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from stellwerk_base.texts import counted
from stellwerk_processes.bench.levels import UNPROVEN, Confinement, SandboxRecord, describe
from stellwerk_processes.bot_spec import Process
from stellwerk_tournament.config.conduct import in_words
from stellwerk_tournament.config.sandbox import shown_paths
from stellwerk_tournament.config.settings import Entrant, Settings, Variant
from stellwerk_tournament.report.markup import milliseconds
from stellwerk_tournament.schedule.schedule import is_drawn, plan_of, stage, stage_of_block
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.match_line import MatchLine
from stellwerk_tournament.store.results import Results

_KINDS = {
    "round_robin": "round robin: all meet all",
    "gauntlet": "gauntlet: one meets all others",
    "swiss": "Swiss: those with equal scores meet",
    "random": "random tables, everybody as often as everybody else",
}
_ISOLATIONS = {
    "none": "none: bots ran without namespaces of their own",
    "user": "a user of their own",
    "namespace": "a sandbox of namespaces",
}
_SECRETS = frozenset({"read_files", "read_other_bots"})  # of what the witness tries
_DEALS = {
    "same_in_block": "a block is one deal, played once in every rotation of the seats (or teams), so that "
    "the luck of the deal and of the seat is everybody's",
    "new_each_match": "with a remote bot at the table each match has a new deal, and a block is every "
    "rotation of the seats, so that the luck of the seat is everybody's, and that of the deal is not",
}
_PROCESSES: dict[Process, str] = {
    "fresh": "a process of its own for each match, in an empty folder, unless the bot brings a folder",
    "reused": "processes that play match after match, no deal twice, and a fresh one after a fault",
    "house": "no process: built-in bots that sit in the server, with a seed for each match",
    "remote": "connected from elsewhere: how they were run is not known here",
}


@dataclass(frozen=True, slots=True)
class RulesRow:
    """A game of the tournament, with the versions of its rules that the matches were played under."""

    variant: Variant
    rules_versions: Sequence[int]


@dataclass(frozen=True, slots=True)
class ConditionsShown:
    """The content of this section. `facts` are titles with sentences."""

    facts: Sequence[tuple[str, str]]
    games: Sequence[RulesRow]
    entrants: Sequence[Entrant]
    transports: dict[str, str]  # of each entrant; a remote one's is known from its matches
    versions: dict[str, str]  # of each entrant, with the matches of each if there are several


class PlayedVersions:
    """The matches of each bot, counted by the version that played them."""

    def __init__(self) -> None:
        self._of: dict[str, Counter[str]] = {}

    def add(self, line: MatchLine) -> None:
        for name, version in zip(line.players, line.versions or ("",) * len(line.players), strict=True):
            self._of.setdefault(name, Counter())[version] += 1

    def of(self, name: str) -> str:
        """Name the versions of a bot, with the matches of each if there are several."""
        counts = self._of.get(name, Counter())
        return ", ".join(_share({"": "" if len(counts) == 1 else "unknown"}, counts))

    def lines(self) -> Iterator[str]:
        """Yield a line about each bot whose matches were not all played by one version."""
        for name, counts in self._of.items():
            if len(counts) > 1:
                yield f"{name} played as {len(counts)} versions: {self.of(name)}"


class ConditionsSeen:
    """The surroundings of all matches, as their lines describe them."""

    def __init__(self) -> None:
        self.rules_versions: dict[str, set[int]] = {}
        self.transports: dict[str, set[str]] = {}  # of remote bots
        self.versions = PlayedVersions()
        self.deals: Counter[str] = Counter()
        self.isolations: Counter[str] = Counter()
        self.sandboxes: Counter[SandboxRecord | UnsetType] = Counter()
        self.late_ms = 0
        self.played_again = 0

    def add(self, line: MatchLine) -> None:
        self.rules_versions.setdefault(line.game, set()).add(line.rules_version)
        for seat in line.bots:
            if seat.transport is not UNSET:
                self.transports.setdefault(seat.bot, set()).add(seat.transport)
        self.versions.add(line)
        self.deals[line.deal] += 1
        self.isolations[line.isolation] += 1
        self.sandboxes[line.sandbox] += 1
        self.late_ms += line.late_ms
        self.played_again += line.attempt > 1


def conditions(cup: Cup, seen: ConditionsSeen, fair_clocks: str) -> ConditionsShown:
    """Collect the rules, clocks and surroundings of the matches, and who is suspended."""
    settings = cup.settings
    return ConditionsShown(
        tuple(_facts(cup, seen, fair_clocks)),
        [
            RulesRow(variant, sorted(seen.rules_versions.get(variant.choice.game_id, ())))
            for variant in settings.variants
        ],
        settings.entrants,
        {
            entrant.name: ", ".join(sorted(seen.transports.get(entrant.name, ())))
            if entrant.is_remote
            else entrant.bot.transport
            for entrant in settings.entrants
        },
        {name: seen.versions.of(name) for name in settings.names},
    )


def _facts(cup: Cup, seen: ConditionsSeen, fair_clocks: str) -> Iterator[tuple[str, str]]:
    settings = cup.settings
    hero = "" if settings.hero is None else f" ({settings.hero})"
    yield "schedule", _KINDS[settings.kind] + hero
    yield "length", " or ".join(_length(settings))
    blocks = cup.results.blocks
    yield (
        "played",
        f"{counted(len(cup.results), 'match', 'matches')} in {counted(len(blocks), 'complete block')}; "
        "blocks that are not complete do not count",
    )
    yield from _missing(settings, {*blocks}, cup.out)
    yield from _one_author(settings, cup.results)
    yield "deals", "; ".join(_share(_DEALS, seen.deals)) or "none yet"
    isolations = seen.isolations or Counter([settings.confinement.isolation])
    yield "isolation", "; ".join(_share(_ISOLATIONS, isolations))
    if any(not entrant.is_remote for entrant in settings.entrants):
        yield from _sandbox(settings.confinement, seen.sandboxes)
    if settings.confinement.memory_mb is not None:
        yield "memory", f"{settings.confinement.memory_mb:,} MB for each process of a bot"
    yield "opponents", "shown as seat numbers" if settings.anonymous else "shown by name"
    yield from _clocks(settings)
    yield "fair clocks", fair_clocks
    yield (
        "the machine",
        f"was late for {milliseconds(seen.late_ms)} in all, which was no bot's time; "
        f"{counted(seen.played_again, 'match', 'matches')} had to be played again because of it",
    )
    yield "forfeits", in_words(settings.conduct)
    if settings.left_out:
        yield "left out", f"{', '.join(settings.left_out)}: by the organizer, before the first match"
    for process, names in _by_process(settings.entrants).items():
        which = "all" if len(names) == len(settings.entrants) else ", ".join(names)
        yield "processes", f"{which}: {_PROCESSES[process]}"
    if any(entrant.is_remote for entrant in settings.entrants):
        yield "remote bots", f"waited for {counted(settings.remote_wait_s, 'second')}, then absent"


def _sandbox(
    confinement: Confinement, sandboxes: Counter[SandboxRecord | UnsetType]
) -> Iterator[tuple[str, str]]:
    """Yield what was tried of the sandbox where the lines say it, else what was asked for."""
    asked = "a wrapping command" if confinement.wrap else confinement.level
    untried = f"{asked}; what it refuses on this machine was not tried"
    words: Counter[str] = Counter()
    for record, count in sandboxes.items():
        words[untried if record is UNSET else describe(record)] += count
    yield "sandbox", "; ".join(_share({}, words)) or untried
    if confinement.bind:
        yield "more files", f"every bot could read {', '.join(shown_paths(confinement))}"
    if confinement.network:
        yield "network", "bots had the network of the machine"
    if any(_shows_secrets(confinement, record) for record in sandboxes or [UNSET]):
        yield "secrets", "bots could read one another's tokens, and the runner's files"


def _shows_secrets(confinement: Confinement, record: SandboxRecord | UnsetType) -> bool:
    """Return whether nothing kept bots from the secrets of others. What a wrapping command does is unknown
    unless it was tried."""
    if record is not UNSET:
        return not _SECRETS.isdisjoint(record.allowed)
    return not confinement.wrap and confinement.level in UNPROVEN


def _by_process(entrants: Sequence[Entrant]) -> dict[Process, list[str]]:
    found: dict[Process, list[str]] = {}
    for entrant in entrants:
        found.setdefault(entrant.bot.process, []).append(entrant.name)
    return found


def _length(settings: Settings) -> Iterator[str]:
    if settings.rounds is not None:
        yield counted(settings.rounds, "round")
    if settings.until_width is not None:
        yield f"until all 95 % intervals are at most {settings.until_width:g} Elo wide"


def _clocks(settings: Settings) -> Iterator[tuple[str, str]]:
    time = settings.time
    yield (
        "clocks",
        f"{milliseconds(time.set_up_ms)} to get ready, {milliseconds(time.move_ms)} for each answer, "
        f"{milliseconds(time.bank_ms)} in the bank for the whole match, then {milliseconds(time.grace_ms)} "
        f"of grace {counted(time.strikes, 'time')}",
    )
    yield (
        "missing answers",
        f"{counted(time.tries, 'try', 'tries')} for each answer; after {time.defaults_in_a_row} missing "
        f"answers in a row, or {time.defaults} in all, the server plays on for the bot",
    )


def _missing(settings: Settings, blocks: Collection[int], out: Collection[str]) -> Iterator[tuple[str, str]]:
    """Say which blocks are missing before the last one, and why, as far as the schedule shows it. Where
    tables are drawn, it does not show who would have played.
    """
    missing = [block for block in range(max(blocks, default=0)) if block not in blocks]
    plan = plan_of(settings)
    called_off: list[int] = []
    if out and missing and not is_drawn(plan):
        stages = {number: stage(plan, number) for number in {stage_of_block(plan, each) for each in missing}}
        entrants = {block.number: block.entrants for of_stage in stages.values() for block in of_stage}
        called_off = [block for block in missing if any(name in out for name in entrants[block])]
    if called_off:
        names = ", ".join(name for name in settings.names if name in out)
        yield (
            "called off",
            f"{counted(len(called_off), 'block')} of suspended or disqualified bots ({names}): "
            f"{_first(called_off)}",
        )
    if others := [block for block in missing if block not in called_off]:
        off = ", called off for a bot that was out" if out and is_drawn(plan) else ""
        yield (
            "missing",
            f"{counted(len(others), 'block')} among the others, void because of a machine fault{off}, or not "
            f"complete yet: {_first(others)}",
        )


def _one_author(settings: Settings, results: Results) -> Iterator[tuple[str, str]]:
    """Name each table with bots of one author, who could play as one. The schedule avoids them if it can."""
    authors = {entrant.name: entrant.author for entrant in settings.entrants if entrant.author is not None}
    blocks_of: dict[tuple[str, ...], list[int]] = {}
    for match in results.by_number():
        blocks = blocks_of.setdefault(tuple(sorted(match.players)), [])
        if match.block not in blocks[-1:]:
            blocks.append(match.block)
    for table, blocks in sorted(blocks_of.items()):
        counts = Counter(authors[name] for name in table if name in authors)
        for author in [author for author, count in counts.items() if count > 1]:
            names = ", ".join(name for name in table if authors.get(name) == author)
            where = f"{'block' if len(blocks) == 1 else 'blocks'} {_first(blocks)}"
            yield "one author", f"{names}: bots of {author}, at the table of {', '.join(table)}: {where}"


def _first(blocks: Sequence[int]) -> str:
    more = f", and {len(blocks) - 10:,} more" if len(blocks) > 10 else ""
    return f"{', '.join(map(str, blocks[:10]))}{more}"


def _share(words: dict[str, str], counts: Counter[str]) -> Iterator[str]:
    for key, count in counts.most_common():
        text = words.get(key, key)
        yield text if len(counts) == 1 else f"{text} ({counted(count, 'match', 'matches')})"
