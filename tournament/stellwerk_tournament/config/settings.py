"""`tournament.toml`: what is played, by whom, and how; read, checked, and the file that `init` writes.

Law: a file either says in all its keys what is to be done, or is refused with the line, the key, and what was
expected there. Relative paths count from the file's folder, so that a tournament can be gone on with from
anywhere. It contains no seed, for the deals reveal the cards, and of tokens only their hashes.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, cast, get_args

import msgspec
from msgspec import Meta, Struct

from stellwerk_base.texts import quoted, suggestion
from stellwerk_engine.boards.board_file import BoardError, load_board, shipped_board
from stellwerk_engine.core.game import GameError
from stellwerk_engine.core.state import Game
from stellwerk_engine.games.game_choice import GameChoice
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_engine.knowledge.limits import check_line
from stellwerk_processes.bench.invitation import BotStartError, command_line
from stellwerk_processes.bench.levels import Confinement, Level, Wanted
from stellwerk_processes.bot_spec import (
    BUILT_IN,
    QUICK_BOTS,
    STARTED,
    BotSpec,
    BotSpecError,
    Transport,
    bot_spec,
    player_name,
    usual_process,
)
from stellwerk_processes.bot_spec import Process as BotProcess
from stellwerk_server.lobby.tokens import TokenFileError, TokenHolder, Tokens, read_tokens
from stellwerk_server.operate.plain_words import plain_words
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.config import conduct
from stellwerk_tournament.config.conduct import STANDARD, ConductTable
from stellwerk_tournament.config.sandbox import STANDARD as STANDARD_LEVEL
from stellwerk_tournament.config.sandbox import (
    SandboxKeyError,
    SandboxKeys,
    bot_folder,
    expect_apart,
    hiding_tournaments,
    sandbox_of,
)

FILE: Final = "tournament.toml"
MOST_BOTS: Final = 1000
MOST_MATCHES_AT_ONCE: Final = 1000
REMOTE_WAIT_S: Final = 60
LONGEST_VERSION: Final = 64  # characters

Kind: TypeAlias = Literal["round_robin", "gauntlet", "swiss", "random"]
Process: TypeAlias = Literal["fresh", "reused", "house"]  # of what does not connect from elsewhere
Place: TypeAlias = tuple[str | int, ...]

_CHOICES: Final = {
    "kind": get_args(Kind),
    "transport": get_args(Transport),
    "process": get_args(Process),
    "sandbox": get_args(Wanted),
    "require": get_args(Level),
}

_Count = Annotated[int, Meta(ge=1, le=1_000_000)]
_Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class ScheduleTable(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Kind = "round_robin"
    rounds: _Count | None = None
    until_width: Annotated[float, Meta(gt=0)] | None = None
    hero: str | None = None


class GameTable(Struct, frozen=True, forbid_unknown_fields=True):
    game: str
    players: int | None = None
    options: tuple[str, ...] = ()
    board: str | None = None
    weight: Annotated[int, Meta(ge=1, le=1000)] = 1


class BotTable(Struct, frozen=True, forbid_unknown_fields=True):
    name: str | None = None
    built_in: str | None = None
    cmd: str | None = None
    dir: str | None = None
    folder: str | None = None
    env: dict[str, str] = {}
    transport: Transport | None = None
    author: str | None = None
    instances: _Count | None = None
    process: Process | None = None
    remote: bool = False
    version: Annotated[str, Meta(min_length=1, max_length=LONGEST_VERSION)] | None = None
    token_sha256: _Hash | tuple[_Hash, ...] | None = None


class SettingsFile(Struct, frozen=True, forbid_unknown_fields=True):
    games: Annotated[tuple[GameTable, ...], Meta(min_length=1, max_length=100)]
    bots: Annotated[tuple[BotTable, ...], Meta(min_length=2, max_length=MOST_BOTS)]
    title: Annotated[str, Meta(max_length=200)] = ""
    schedule: ScheduleTable = ScheduleTable()
    clocks: Time = Time()
    conduct: ConductTable | None = None
    concurrency: Annotated[int, Meta(ge=-MOST_MATCHES_AT_ONCE, le=MOST_MATCHES_AT_ONCE)] = -1
    anonymous: bool = False
    wrap: str = ""
    sandbox: Wanted | None = None
    require: Level | None = None
    bind: tuple[str, ...] = ()
    network: bool = False
    processes: _Count | None = None
    disk_mb: _Count | None = None
    memory_mb: Annotated[int, Meta(ge=16, le=1_000_000)] | None = None
    freeze: bool = False
    cores_per_bot: Annotated[int, Meta(ge=1, le=1000)] | None = None
    tokens: str | None = None
    remote_wait_s: Annotated[int, Meta(ge=0, le=1_000_000)] = REMOTE_WAIT_S


@dataclass(frozen=True, slots=True)
class Variant:
    """A game with so many players, options and a board. `weight` is how many blocks of it a round has."""

    choice: GameChoice
    weight: int

    @property
    def game(self) -> Game:
        return self.choice.make()

    @property
    def team_size(self) -> int:
        return self.choice.rules.team_size

    @property
    def entrant_count(self) -> int:
        return self.choice.seat_count // self.team_size


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot of the tournament. `instances` is how many processes of it may run at a time, or in how many
    matches a remote one may be. `logins`: as whom a remote one logs in, for each seat of a team; the first
    one plays all other games, too. They are empty for commands that only look at a tournament. `number`:
    which of the tables `[[bots]]` it is, from 0. `label`: the version of one whose files are not here: of a
    remote one by its table, if that has one, or as another machine has read it."""

    bot: BotSpec
    author: str | None
    instances: int | None
    logins: tuple[TokenHolder, ...] = ()
    number: int = 0
    label: str = ""

    @property
    def name(self) -> str:
        return self.bot.name

    @property
    def is_remote(self) -> bool:
        return self.bot.process == "remote"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the file. `freeze`: bots are stopped while they are not asked. `cores_per_bot`: how
    many physical cores each has to itself in a match, if any."""

    title: str
    kind: Kind
    rounds: int | None
    until_width: float | None
    hero: str | None
    variants: tuple[Variant, ...]
    entrants: tuple[Entrant, ...]
    time: Time
    confinement: Confinement
    concurrency: int
    anonymous: bool
    organizers: tuple[TokenHolder, ...] = ()
    remote_wait_s: int = REMOTE_WAIT_S
    freeze: bool = False
    cores_per_bot: int | None = None
    conduct: ConductTable | None = STANDARD  # none in a gate
    left_out: tuple[str, ...] = ()  # bots of the file that do not take part

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entrant.name for entrant in self.entrants)

    def matches_at_once(self) -> int:
        """Return how many matches run at a time."""
        return matches_at_once(self.concurrency)

    def at_level(self, level: Wanted) -> Settings:
        """Return the settings with this level of the sandbox."""
        return replace(self, confinement=replace(self.confinement, level=level))


def matches_at_once(concurrency: int) -> int:
    """Return how many matches run at a time. A negative number leaves so many cores free."""
    if concurrency > 0:
        return concurrency
    return max(1, len(os.sched_getaffinity(0)) + concurrency)


class SettingsError(ValueError):
    """An error of `tournament.toml`; one line says where and why."""


def parse(folder: Path) -> Source:
    """Read the file. SettingsError, or OSError if that cannot be done."""
    path = folder / FILE
    try:
        text = path.read_bytes().decode()
        content = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8: byte {error.start + 1}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{path}: not TOML: {error}") from None
    source = Source(path, text)
    for place, key, known in _unknown_keys(content):
        raise source.error((*place, key), f"unknown key{suggestion(key, known)} ({', '.join(known)})")
    try:
        source.file = msgspec.convert(content, SettingsFile)
    except msgspec.ValidationError as error:
        complaint, _, where = str(error).partition(" - at `$")
        place = _path_of(where)
        raise source.error(place, _complaint(complaint, place, content)) from None
    return source


def settings_of(
    source: Source,
    folder: Path,
    *,
    to_play: bool = True,
    without: Collection[str] = (),
    level: Wanted = STANDARD_LEVEL,
) -> Settings:
    """Check what the file says and return the settings. SettingsError if it cannot be done here. Only playing
    needs the bots' programs and tokens: a tournament that was played can be looked at anywhere. The bots in
    `without` are left out; nothing is needed of them. `level` is that of the sandbox where the file says
    none."""
    file = source.file
    schedule = file.schedule
    wrap = _wrap(source, folder, file.wrap)
    sandbox = _sandbox(source, folder, level, has_wrap=bool(wrap), to_play=to_play)
    confinement = replace(sandbox, wrap=wrap, memory_mb=file.memory_mb)
    tokens = _tokens(source, folder, file.tokens) if to_play else Tokens(())
    variants = tuple(_variant(source, folder, number, game) for number, game in enumerate(file.games))
    largest_team = max(variants, key=lambda variant: variant.team_size)
    all_entrants = _entrants(source, folder, confinement, tokens, largest_team, without, to_play=to_play)
    everybody = tuple(all_entrants)
    entrants = tuple(entrant for entrant in everybody if entrant.name not in without)
    _expect_enough(source, variants, entrants, len(everybody) - len(entrants))
    _expect_fair_clocks(source, entrants)
    names = [entrant.name for entrant in entrants]
    hero = schedule.hero
    if hero is not None and hero in without:
        raise source.error(("schedule", "hero"), f"{quoted(hero)} is left out")
    if hero is not None and hero not in names:
        raise source.error(("schedule", "hero"), f"no bot has this name{suggestion(hero, names)}")
    if hero is not None and schedule.kind != "gauntlet":
        raise source.error(("schedule", "hero"), 'goes with kind = "gauntlet" only')
    return Settings(
        title=file.title,
        kind=schedule.kind,
        rounds=1 if schedule.rounds is None and schedule.until_width is None else schedule.rounds,
        until_width=schedule.until_width,
        hero=(hero or names[0]) if schedule.kind == "gauntlet" else None,
        variants=variants,
        entrants=entrants,
        time=file.clocks,
        confinement=hiding_tournaments(confinement, (entrant.bot.command for entrant in entrants)),
        concurrency=file.concurrency,
        anonymous=file.anonymous,
        organizers=tuple(holder for holder in tokens.holders if holder.is_organizer),
        remote_wait_s=file.remote_wait_s,
        freeze=file.freeze,
        cores_per_bot=file.cores_per_bot,
        conduct=file.conduct or STANDARD,
        left_out=tuple(entrant.name for entrant in everybody if entrant.name in without),
    )


# -- the tables --------------------------------------------------------------------------------------


def _wrap(source: Source, folder: Path, text: str) -> tuple[str, ...]:
    try:
        return tuple(word.replace("{folder}", os.path.abspath(folder)) for word in shlex.split(text))
    except ValueError as error:
        raise source.error(("wrap",), str(error).lower()) from None


def _sandbox(source: Source, folder: Path, level: Wanted, *, has_wrap: bool, to_play: bool) -> Confinement:
    file = source.file
    keys = SandboxKeys(file.sandbox, file.require, file.bind, file.network, file.processes, file.disk_mb)
    try:
        return sandbox_of(keys, folder, has_wrap=has_wrap, to_play=to_play, standard=level)
    except SandboxKeyError as error:
        raise source.error((error.key,), str(error)) from None


def _tokens(source: Source, folder: Path, name: str | None) -> Tokens:
    if name is None:
        return Tokens(())
    try:
        return read_tokens(folder / name)
    except TokenFileError as error:
        raise source.error(("tokens",), str(error)) from None
    except OSError as error:
        raise source.error(("tokens",), f"{folder / name}: {error.strerror or error}") from None


def _variant(source: Source, folder: Path, number: int, table: GameTable) -> Variant:
    place = ("games", number)
    if table.game not in RULE_SETS:
        near = suggestion(table.game, RULE_SETS)
        known = ", ".join(RULE_SETS)
        raise source.error((*place, "game"), f"there is no game {quoted(table.game)}{near} ({known})")
    rules = RULE_SETS[table.game]
    try:
        board = shipped_board(rules.board) if table.board is None else load_board(folder / table.board)
        choice = GameChoice(
            game_id=table.game,
            seat_count=min(rules.seat_counts) if table.players is None else table.players,
            options=tuple(sorted(set(table.options))),
            board=board,
        )
        game = choice.make()
        if table.board is not None:
            check_line(game)
    except BoardError as error:
        raise source.error((*place, "board"), str(error)) from None
    except GameError as error:
        raise source.error(place, str(error)) from None
    return Variant(choice, table.weight)


def _entrants(
    source: Source,
    folder: Path,
    confinement: Confinement,
    tokens: Tokens,
    largest_team: Variant,
    without: Collection[str],
    *,
    to_play: bool,
) -> Iterator[Entrant]:
    """Yield all bots. Those in `without` are not looked for, nor their tokens."""
    taken: set[str] = set()
    hashes = {holder.hash for holder in tokens.holders if holder.is_organizer}
    for number, table in enumerate(source.file.bots):
        place = ("bots", number)
        logins: tuple[TokenHolder, ...] = ()
        try:
            if table.remote:
                bot = _remote(source, place, table)
                if to_play and bot.name not in without:
                    logins = _logins(source, place, table, bot.name, tokens, largest_team)
            else:
                process = _process(source, place, table)
                bot = _located(_started(source, place, table, process), folder)
                needs_it = to_play and bot.name not in without
                bot = replace(bot, folder=bot_folder(bot.folder, folder, to_play=needs_it))
                if needs_it:
                    command_line(bot, confinement, str(folder))
                    for key, path in (("dir", bot.directory), ("folder", bot.folder)):
                        expect_apart(key, path, confinement)
        except SandboxKeyError as error:
            raise source.error((*place, error.key), str(error)) from None
        except BotSpecError as error:
            raise source.error((*place, *_steps(error.key)), error.problem) from None
        except BotStartError as error:
            where = ("wrap",) if error.key == "wrap" else (*place, error.key)
            raise source.error(where, str(error)) from None
        for login in logins:
            if login.hash in hashes:
                raise source.error(place, "somebody else has this token: draw one for each")
            hashes.add(login.hash)
        names = dict.fromkeys([bot.name, *(login.name for login in logins)])
        for name in names:
            if name.lower() in taken:
                raise source.error(
                    place, f"there is another bot of the name {quoted(name)}: give it a name of its own"
                )
        taken.update(name.lower() for name in names)
        yield Entrant(bot, table.author, table.instances, logins, number, table.version or "")


def _remote(source: Source, place: Place, table: BotTable) -> BotSpec:
    """Return the spec of a remote bot. BotSpecError if its name is not valid."""
    for key in ("built_in", "cmd", "dir", "folder", "env", "transport", "process"):
        if getattr(table, key):
            raise source.error((*place, key), "does not go with a remote bot, which is not started here")
    if table.name is None:
        raise source.error(place, "a remote bot needs a name")
    return BotSpec(player_name(table.name), (), process="remote")


def _logins(
    source: Source, place: Place, table: BotTable, name: str, tokens: Tokens, largest_team: Variant
) -> tuple[TokenHolder, ...]:
    """Return a login for each seat that the bot fills: partners are two players, with names and tokens of
    their own. BotSpecError for a name that leaves no room for their numbers."""
    size = largest_team.team_size
    names = [name] if size == 1 else [player_name(f"{name}.{number}") for number in range(1, size + 1)]
    if table.token_sha256 is None:
        in_file = {holder.name.lower(): holder.hash for holder in tokens.holders}
        hashes = [in_file[each.lower()] for each in names if each.lower() in in_file]
    else:
        hashes = [table.token_sha256] if isinstance(table.token_sha256, str) else [*table.token_sha256]
    if len(hashes) != size:
        raise source.error(place, _expected_tokens(names, largest_team.choice.game_id, bool(hashes)))
    return tuple(map(partial(TokenHolder, is_organizer=False), names, hashes))


def _expected_tokens(names: Sequence[str], game_id: str, has_some: bool) -> str:
    if len(names) > 1:
        dots = ", ".join(['"..."'] * len(names))
        return (
            f"expected token_sha256 = [{dots}], or lines for {' and '.join(names)} in the file of tokens: in "
            f"{game_id} it fills {len(names)} seats, and logs in once for each of them, by these names; "
            f"'stellwerk token {names[0]}' draws a token and tells both"
        )
    if has_some:
        return "expected one token_sha256: no game here is played by teams"
    return (
        f"expected token_sha256, or a line for {names[0]} in the file of tokens: 'stellwerk token "
        f"{names[0]}' draws a token and tells both"
    )


def _process(source: Source, place: Place, table: BotTable) -> BotProcess:
    """Return how a bot runs: as its table says, or as it is usual."""
    keys = [key for key in ("dir", "env", "transport", "instances") if getattr(table, key)]
    if table.process == "house":
        if table.built_in not in QUICK_BOTS:
            known = ", ".join(QUICK_BOTS)
            raise source.error((*place, "process"), f'"house" is for these built-in bots only: {known}')
        if keys:
            raise source.error(
                (*place, keys[0]), 'does nothing for a bot that sits in the server: process = "house"'
            )
    if table.process is not None:
        return table.process
    usual = usual_process(table.built_in)
    if usual == "house" and keys:  # of a process
        usual = "reused"
    return "fresh" if usual == "reused" and source.file.cores_per_bot is not None else usual


def _started(source: Source, place: Place, table: BotTable, process: BotProcess) -> BotSpec:
    if table.token_sha256 is not None:
        raise source.error((*place, "token_sha256"), "goes with remote = true only")
    if table.version is not None:
        raise source.error(
            (*place, "version"), "goes with remote = true only: here it follows from the files"
        )
    if (table.built_in is None) == (table.cmd is None):
        known = ", ".join(BUILT_IN)
        raise source.error(place, f"expected either cmd or built_in ({known}), or remote = true")
    if table.built_in is not None and table.folder is not None:
        raise source.error((*place, "folder"), "does not go with a built-in bot, which needs none")
    return bot_spec(
        name=table.name,
        built_in=table.built_in,
        cmd=table.cmd,
        directory=table.dir,
        environment=table.env,
        transport=table.transport,
        process=process,
        folder=table.folder,
    )


def _steps(key: str) -> Place:
    """Return the steps from a bot's table to a key of its spec: `env.THREADS` is in the table `env`."""
    table, dot, variable = key.partition(".")
    return (table, variable) if dot else (table,) if table else ()


def _located(bot: BotSpec, folder: Path) -> BotSpec:
    if bot.directory is not None:
        return replace(bot, directory=os.path.abspath(folder / bot.directory))
    program, *rest = bot.command
    command = (
        program if "/" not in program else _absolute(program, folder),
        *(_absolute(w, folder) for w in rest),
    )
    return replace(bot, command=command)


def _absolute(word: str, folder: Path) -> str:
    path = folder / word
    return os.path.abspath(path) if word and path.is_file() else word


def _expect_fair_clocks(source: Source, entrants: Sequence[Entrant]) -> None:
    """Refuse `freeze` and `cores_per_bot` where they cannot be had for every bot of this machine."""
    file = source.file
    if all(entrant.bot.process not in STARTED for entrant in entrants):
        for key in ("freeze", "cores_per_bot"):
            if getattr(file, key):
                raise source.error((key,), "no bot has a process on this machine")
    reused = [entrant.number for entrant in entrants if entrant.bot.process == "reused"]
    if file.cores_per_bot is not None and reused:
        raise source.error(
            ("bots", reused[0], "process"),
            '"reused" does not go with cores_per_bot: a bot has its cores for one match, and such a process '
            'stays when its match is over; expected "fresh"',
        )


def _expect_enough(
    source: Source, variants: Sequence[Variant], entrants: Sequence[Entrant], left_out: int
) -> None:
    but = f", without the {left_out} that {'is' if left_out == 1 else 'are'} left out" if left_out else ""
    for number, variant in enumerate(variants):
        if variant.entrant_count > len(entrants):
            raise source.error(
                ("games", number),
                f"{variant.entrant_count} bots play at a table, and there are only {len(entrants)}{but}",
            )
        for entrant in entrants:
            if entrant.is_remote:
                continue  # its matches are counted
            if entrant.instances is not None and entrant.instances < variant.team_size:
                raise source.error(
                    ("bots", entrant.number, "instances"),
                    f"{variant.choice.game_id} needs {variant.team_size} processes of each bot at a time",
                )


# -- where something stands --------------------------------------------------------------------------

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\"-]+)\s*\]\]?")
_KEY: Final = re.compile(r"\s*([A-Za-z0-9_\"-]+(?:\s*\.\s*[A-Za-z0-9_\"-]+)*)\s*=")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+)\]")


class Source:
    """The text of a file, for the lines in messages."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.file: SettingsFile

    def error(self, place: Place, message: str) -> SettingsError:
        line = self._line_of(place)
        at = f":{line}" if line else ""
        return SettingsError(f"{self.path}{at}: {_in_words(place)}{message}")

    def _line_of(self, place: Place) -> int | None:
        """Return the line of a place, or of its nearest parent that has one. Values of several lines may
        contain what looks like a key. The line is wrong then, but the message still names the place."""
        found: dict[Place, int] = {}
        table: Place = ()
        counts: dict[str, int] = {}
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := _HEADER.match(line):
                names = _names(header[2])
                if header[1] == "[[":
                    counts[header[2]] = counts.get(header[2], -1) + 1
                    names = (*names, counts[header[2]])
                elif names and isinstance(names[0], str) and names[0] in counts:
                    names = (names[0], counts[names[0]], *names[1:])
                table = names
                found.setdefault(table, number)
            elif key := _KEY.match(line):
                found.setdefault((*table, *_names(key[1])), number)
        while place:
            if place in found:
                return found[place]
            place = place[:-1]
        return None


def _names(dotted: str) -> Place:
    return tuple(part.strip().strip('"') for part in dotted.split("."))


def _in_words(place: Place) -> str:
    """Write a place as in `bots[2].cmd: `. Lists are counted from 1, as people do."""
    text = ""
    for step in place:
        text += f"[{step + 1}]" if isinstance(step, int) else f".{step}" if text else step
    return f"{text}: " if text else ""


def _path_of(where: str) -> Place:
    """Return the place of msgspec's `.games[0].players`."""
    return tuple(int(index) if index else name for name, index in _STEP.findall(where.rstrip("`")))


def _complaint(complaint: str, place: Place, content: dict[str, Any]) -> str:
    """Translate msgspec's complaint about a place into plain words."""
    given: object = content
    for step in place:
        match given, step:
            case dict(), str():
                given = cast(dict[str, object], given).get(step)
            case list(), int():
                given = cast(list[object], given)[step]
            case _:
                given = None
    return plain_words(complaint, str(place[-1]) if place else "", given, _CHOICES)


def _unknown_keys(content: dict[str, Any]) -> Iterator[tuple[Place, str, tuple[str, ...]]]:
    # Any: that is how a TOML document is read
    tables: list[tuple[Place, object, type[Struct]]] = [
        ((), content, SettingsFile),
        (("schedule",), content.get("schedule"), ScheduleTable),
        (("clocks",), content.get("clocks"), Time),
        ((conduct.KEY,), content.get(conduct.KEY), ConductTable),
    ]
    for key, kind in (("games", GameTable), ("bots", BotTable)):
        entries = content.get(key)
        if isinstance(entries, list):
            tables += [((key, n), entry, kind) for n, entry in enumerate(cast(list[object], entries))]
    for place, table, struct in tables:
        known = tuple(name for name in struct.__struct_fields__ if name != "resolved")
        for key in cast(dict[str, object], table) if isinstance(table, dict) else ():
            if key not in struct.__struct_fields__:
                yield place, key, known
