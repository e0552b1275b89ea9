"""Whether a tournament is what it says: every replay played again, every figure computed again.

Law: a tournament is good if every match of every complete block has a replay that is true, was dealt from the
seed that its block tells, was played by those who are said to have played, and ended as its line says; if its
forfeits follow from the faults in the lines and the conduct that the tournament began with, and those faults
from its replay, as far as that shows them; if its conditions are those that the tournament began with; if no
bot was drawn again after its suspension or disqualification; if each decision follows the one before it; and
if every derived file that is there is what the lines come to.
The first thing that is not so is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET

from stellwerk_engine.core.state import Events, Game
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.replays.blind_draws import blind_draws
from stellwerk_engine.replays.verify import verify as verify_replay
from stellwerk_processes.seat_report import Breakdown
from stellwerk_protocol.replays import Header
from stellwerk_protocol.results import Result
from stellwerk_tournament.config.resolved import FILE as RESOLVED
from stellwerk_tournament.config.settings import LONGEST_VERSION, Settings
from stellwerk_tournament.report.derived import FILES, maker
from stellwerk_tournament.report.marks import wrong_conduct
from stellwerk_tournament.report.match_pages import FOLDER as PAGES
from stellwerk_tournament.report.match_pages import NO_PAGES, Paged, page_path, wrong_page
from stellwerk_tournament.report.scheduled import wrong_draws
from stellwerk_tournament.schedule.deal import match_id
from stellwerk_tournament.schedule.schedule import Block
from stellwerk_tournament.store.conduct import Suspensions, judged
from stellwerk_tournament.store.cup import Cup
from stellwerk_tournament.store.field import FILE as FIELD
from stellwerk_tournament.store.field import Disqualified, Ruled
from stellwerk_tournament.store.match_line import FILE, Forfeit, MatchLine, blocks_of
from stellwerk_tournament.store.store import StoreError

NOT_THERE: Final = "is not there"


class UntrueError(Exception):
    """The first thing that is not as it should be, in one line that begins with the file."""


class OtherVersionError(Exception):
    """A derived file cannot be compared: another version of Stellwerk made it. One line says which."""


def verify(
    cup: Cup,
    paged: Paged = NO_PAGES,
    seen: Callable[[MatchLine], object] = lambda _: None,
    makes: Callable[[str], object] = lambda _: None,
) -> int:
    """Verify everything, and return how many files beside `matches.jsonl` are good.

    UntrueError if something is not, OtherVersionError if a derived file cannot be compared, OSError if a
    file cannot be read. `seen` gets each line when it has been verified, `makes` the name of each derived
    file before it is made again.
    """
    names = set(cup.settings.names)
    for message in _wrong_decisions(cup):
        raise UntrueError(message)
    own_deals = Counter(line.seed for line in cup.lines() if line.deal == "new_each_match")
    number = 0
    conduct = cup.settings.conduct
    suspensions = Suspensions(conduct)
    for matches in blocks_of(cup.lines()):
        computed = judged(matches, conduct, suspensions.names)
        for line, expected in zip(matches, computed, strict=True):
            number += 1
            for message in chain(
                wrong_line(cup.settings, matches[0], line, names, own_deals),
                _wrong_forfeits(line, expected, suspensions.names),
            ):
                raise UntrueError(f"{FILE}:{number}: {message}")
            for message in _wrong_replay(cup, line):
                raise UntrueError(message)
            seen(line)
        suspensions.add(computed)
    for message in wrong_draws(cup):
        raise UntrueError(f"{FILE}: {message}")
    derived = 0
    if paged.count:
        makes(f"{PAGES}/")
        for line in paged.lines(cup):
            if message := wrong_page(cup, line):
                raise _wrong_derived(cup, cup.folder / page_path(line), message, number)
            derived += 1
    for name, make in FILES.items():
        path = cup.folder / name
        if path.exists():
            derived += 1
            makes(name)
            if path.read_bytes() != make(cup, paged):
                raise _wrong_derived(cup, path, "does not match the matches", number)
    return number + derived


def _wrong_decisions(cup: Cup) -> Iterator[str]:
    """Read the decisions, and yield what they say of bots, blocks or matches that there are not."""
    try:
        decisions = cup.field.decisions
    except StoreError as error:
        if error.is_machines:
            raise
        yield str(error)
        return
    for decision in decisions:
        where = f"{cup.folder / FIELD}:{decision.number}"
        if decision.after > cup.results.size:
            yield f"{where}: {FILE} had {decision.after:,} bytes then, and has {cup.results.size:,} now"
        match decision:
            case Disqualified(bot=bot) if bot not in cup.settings.names:
                yield f"{where}: {bot} is not a bot of this tournament"
            case Ruled(blocks=blocks):
                yield from (
                    f"{where}: block {block} was not played" for block in blocks if block not in cup.results
                )
            case _:
                pass


def _wrong_derived(cup: Cup, path: Path, why: str, number: int) -> Exception:
    """Return the error of a file that is made otherwise here. After `number` matches that are true."""
    made_by = maker(cup.folder)
    if made_by in (None, cup.version) or not path.exists():
        return UntrueError(f"{path}: {why}")
    return OtherVersionError(
        f"{path}: Stellwerk {made_by} made it, and this is {cup.version}, which would write it "
        f"otherwise; all {number:,} matches are true"
    )


def wrong_line(
    settings: Settings, first: MatchLine, line: MatchLine, names: set[str], own_deals: Counter[str]
) -> Iterator[str]:
    """Yield what is wrong with a line beside the first one of its block, and with all seeds of
    `own_deals`."""
    variant = next((each for each in settings.variants if _is_of(line, each.choice)), None)
    if variant is None:
        yield f"this tournament has no such game: {line.game} with {len(line.bots)} players"
        return
    if problem := _wrong_form(line, variant.game):
        yield problem  # what follows looks up seats and teams
        return
    yield from _wrong_conditions(settings, line)
    block = Block(first.block, 0, first.round, 0, first.players)
    if unknown := [name for name in line.players if name not in names]:
        yield f"{unknown[0]} is not a bot of this tournament"
    if line.players != block.teams(line.rotation):
        yield f"the players are not those of rotation {line.rotation} of block {line.block}"
    remote = {entrant.name for entrant in settings.entrants if entrant.is_remote}
    if line.deal != ("new_each_match" if remote & set(line.players) else "same_in_block"):
        yield "only the matches of a block with a remote bot have deals of their own, and they do have them"
    if line.deal == "same_in_block" and line.seed != first.seed:
        yield "its seed is not that of the other matches of its block"
    if line.deal == "new_each_match" and own_deals[line.seed] > 1:
        yield "its seed is that of another match, too"
    if line.match != match_id(bytes.fromhex(line.seed), line.rotation):
        yield "its match id does not follow from its seed"
    teams = [(seat.rank, seat.points, seat.bot) for seat in line.bots]
    for team, seats in enumerate(line.seats):
        if any(teams[seat] != (line.by_rules[team], line.points[team], line.players[team]) for seat in seats):
            yield f"the records of team {team} and of its seats differ"


def _is_of(line: MatchLine, choice: GameChoice) -> bool:
    game = (choice.game_id, choice.seat_count, choice.options, choice.board.digest)
    return game == (line.game, len(line.bots), line.options, line.board)


def _wrong_form(line: MatchLine, game: Game) -> str:
    """Say what is wrong with who sits where, or with the length of a list."""
    if line.seats != game.seats_of_team:
        return f"seats: those of the teams are {list(map(list, game.seats_of_team))}"
    lists = (line.players, line.ranks, line.by_rules, line.points)
    if any(len(each) != len(line.seats) for each in lists) or line.rotation >= len(line.seats):
        return f"expected {len(line.seats)} players, ranks and points, and a rotation below that"
    if [(seat.seat, seat.team) for seat in line.bots] != list(enumerate(game.team_of)):
        return "bots: expected one for each seat, in their order, with its team"
    if line.versions and len(line.versions) != len(line.seats):
        return f"versions: expected {len(line.seats)}, or none"
    if any(len(each) > LONGEST_VERSION or not each.isprintable() for each in line.versions):
        return f"versions: expected at most {LONGEST_VERSION} characters that can be printed"
    return ""


def _wrong_conditions(settings: Settings, line: MatchLine) -> Iterator[str]:
    """Yield what a line says of its conditions that the tournament did not begin with."""
    confinement = settings.confinement
    bots = {entrant.name: entrant.bot for entrant in settings.entrants}
    if line.isolation != confinement.isolation:
        yield f"isolation: expected {confinement.isolation}, not {line.isolation}"
    if line.sandbox is not UNSET and not confinement.wrap and line.sandbox.level != confinement.own_level:
        yield f"sandbox.level: expected {confinement.own_level}, not {line.sandbox.level}"
    for seat in line.bots:
        where = f"bots[{seat.seat + 1}]"
        if seat.bot in bots and seat.process != bots[seat.bot].process:
            yield f"{where}.process: {seat.bot} is {bots[seat.bot].process}, and it says {seat.process}"
        if seat.process != "remote" and seat.transport is not UNSET:
            yield f"{where}.transport: is there for remote bots only"
        if seat.frozen is not UNSET and not settings.freeze:
            yield f"{where}.frozen: this tournament stops no bots"
        if seat.processors not in (0, settings.cores_per_bot):
            yield f"{where}.processors: expected {settings.cores_per_bot or 0}, not {seat.processors}"


def _wrong_forfeits(line: MatchLine, expected: MatchLine, suspended: Collection[str]) -> Iterator[str]:
    """Compare a line with the same line as it follows from its faults and the conduct in force. `suspended`
    are the bots that are so by the lines of the blocks before."""
    for seat in line.bots:
        if seat.suspended and seat.bot not in suspended:
            yield f"bots: {seat.bot} was kept away as suspended, and by the lines before it was not suspended"
    if line.forfeits != expected.forfeits:
        yield (
            f"forfeits: by its faults and the conduct in {RESOLVED} {_who(expected.forfeits)}, and it says "
            f"that {_who(line.forfeits)}"
        )
    if line.ranks_by_rules and not expected.ranks_by_rules:
        yield f"ranks_by_rules: there are none in a tournament without a conduct in {RESOLVED}"
    if expected.ranks_by_rules and not line.ranks_by_rules:
        yield f"ranks_by_rules: is not there, though this tournament has a conduct in {RESOLVED}"
    if line.ranks != expected.ranks:
        yield f"ranks: with these forfeits they are {list(expected.ranks)}, and it says {list(line.ranks)}"


def _who(forfeits: Sequence[Forfeit]) -> str:
    who = ", ".join(f"{forfeit.bot} forfeits ({forfeit.reason})" for forfeit in forfeits)
    return who or "nobody forfeits"


def _wrong_replay(cup: Cup, line: MatchLine) -> Iterator[str]:
    folder = cup.folder
    path = folder / line.replay
    if not line.replay or not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        yield f"{path}: {NOT_THERE}"
        return
    content = path.read_bytes()
    if sha256(content).hexdigest() != line.replay_sha256:
        yield f"{path}: is not the file that its line in {FILE} speaks of"
    yield from (
        f"{path}{message}" for message in wrong_content(content, line, anonymous=cup.settings.anonymous)
    )


def wrong_content(content: bytes, line: MatchLine, *, anonymous: bool) -> Iterator[str]:
    """Play the match of a replay again, and compare it with its line. Yield what is wrong, to be put behind
    the name of the file: `: ...` or `:line: ...`. `anonymous`: whether the players have no names there."""
    verdict = verify_replay(content.splitlines(keepends=True))
    if not verdict.good:
        yield f":{verdict.line}: {verdict.message}"
    header, result = verdict.header, verdict.result
    if header is None or result is None:
        yield ": has no result"
        return
    names = tuple(seat.name for seat in header.seats)
    expected = tuple(f"seat-{seat.seat}" if anonymous else seat.bot for seat in line.bots)
    if names != expected:
        yield f": players: expected {', '.join(expected)}"
    differences = _differences(header, result, verdict.events, _seed_in(content), line)
    yield from (f": {message}" for message in differences)
    yield from (f": {message}" for message in wrong_conduct(content, line))


def _differences(header: Header, result: Result, events: Events, seed: str, line: MatchLine) -> Iterator[str]:
    """Compare a replay that is true with what its line says."""
    for what, told, found in (
        ("match", line.match, header.match),
        (
            "game",
            (line.game, line.rules_version, line.options, line.board),
            (header.game, header.rules_version, header.options, header.board.digest),
        ),
        ("seed", line.seed, seed),
        ("ranks", line.by_rules, tuple(team.rank for team in result.teams)),
        ("points", line.points, tuple(team.points for team in result.teams)),
        ("end", (line.reason, line.turns), (result.reason, result.turns)),
        ("blind_draws", line.blind_draws, blind_draws(events, line.seats)),
        ("breakdown", [seat.breakdown for seat in line.bots], list(_breakdowns(result, len(line.bots)))),
    ):
        if told != found:
            yield f"{what}: its line in {FILE} says something else"


def _breakdowns(result: Result, seat_count: int) -> Iterator[Breakdown]:
    for seat in range(seat_count):
        [team] = [team for team in result.teams if seat in team.seats]
        yield Breakdown(team.route_points, team.tickets, team.bonuses, team.longest_path)


def _seed_in(replay: bytes) -> str:
    """Return the seed of a good replay, which is in the last line or in the second."""
    for line in replay.splitlines():
        record: dict[str, object] = msgspec.json.decode(line)
        if record.get("type") == "reveal":
            return str(record["seed"])
    return ""
