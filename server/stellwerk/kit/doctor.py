"""`stellwerk kit doctor`: examines a bot that it starts, or clients that connect.

Exit codes: 0 every step is passed (perhaps with warnings), 1 one is not, 2 there is no such command, step or
game, or the port is taken, 4 the machine failed.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from stellwerk.kit.arguments import add_output_arguments, add_timeout, ended_in_order, print_laws
from stellwerk.kit.findings import conclude, has_failed, tell_each
from stellwerk.shared.choose_game import checked_seed
from stellwerk.shared.errors import DONE, infrastructure_error, usage_error
from stellwerk.shared.parser import argument, whole_number
from stellwerk.shared.terminal import flush_stdout, say
from stellwerk_base.texts import shown, unknown
from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_kit.bot_process import Transport
from stellwerk_kit.doctor.all_steps import NAMED, SERVED
from stellwerk_kit.doctor.callers import Door
from stellwerk_kit.doctor.doctor import Finding, examine, examine_clients
from stellwerk_kit.doctor.patient import patience
from stellwerk_kit.doctor.scripted_match import SCOUTED_GAMES, game_of
from stellwerk_kit.doctor.steps import Examination, Step, cases_of
from stellwerk_protocol.names import GameName

DESCRIPTION: Final = """\
Examine a bot: start it again and again, play a server's part to it, and stop at the
first step at which it does not do what the protocol asks for.

The bot finds STELLWERK_ADDRESS, STELLWERK_TOKEN, STELLWERK_BOT_SEED and STELLWERK_NAME
in its environment, as if a server had started it. All that it starts is killed after
each step.

With --listen, start the client yourself: each connection gets the next of the steps,
and the program ends after the last one. A client that logs in with any token is seated
at once. Without a token it has to join the match of the step, alone or against house
bots. After each step the match fails (`server.failed`), and the client gets `bye`.
"""

EXAMPLES: Final = """\
examples:
  stellwerk kit doctor -- python3 my_bot.py
  stellwerk kit doctor --game usa --game card_game -- ./my_bot --fast
  stellwerk kit doctor --transport stdio --json -- node my_bot.js
  stellwerk kit doctor --junit doctor.xml -- ./my_bot
  stellwerk kit doctor --list
  stellwerk kit doctor --steps first-ask,resume -- ./my_bot
  stellwerk kit doctor --listen 7878 --steps login,first-ask --game usa
"""

ALL: Final = "all"


class DoctorReport(Struct, frozen=True):
    """The output of `--json`. `command` is empty with `--listen`."""

    command: tuple[str, ...]
    transport: Transport
    games: tuple[str, ...]
    seed: str
    passed: bool
    steps: tuple[Finding, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description, parser.epilog = DESCRIPTION, EXAMPLES
    add = partial(argument, parser)
    add("[WORD ...]", "the command that starts the bot, behind --", dest="bot")
    add("--transport", "how the bot is reached", choices=("tcp", "stdio"), default="tcp")
    add(
        "--listen PORT",
        "examine the clients that connect there, on this machine; 0 takes a free port",
        whole_number(0, 65_535),
    )
    add("--game GAME ...", f"may be given several times (default: all: {', '.join(RULE_SETS)})")
    add_timeout(parser)
    add("--seed S", "any text; each text gives other games", default="doctor")
    add(
        "--require-resume",
        "a bot that does not resume after a lost connection fails; else that is a warning",
    )
    add("--steps NAME,...", "only these, in this order", default=ALL)
    add_output_arguments(parser, "steps")


def run(arguments: argparse.Namespace) -> int:
    """Carry out what `add_arguments` has parsed, and return the exit code."""
    known = NAMED if arguments.listen is None else SERVED
    if arguments.list:
        transports = {name: step.transports for name, step in known.items()}
        only = {name: f" ({one[0]} only)" for name, one in transports.items() if len(one) == 1}
        print_laws((name, step.law + only.get(name, "")) for name, step in known.items())
        return DONE
    games = _choose_games(arguments.game)
    steps = _choose_steps(arguments.steps, known)
    cases = cases_of([step for step in steps if arguments.transport in step.transports], games)
    checked_seed(f"{checked_seed(arguments.seed)}/{SCOUTED_GAMES}", "--seed with the number of a game")
    with ended_in_order("the doctor"), contextlib.ExitStack() as stack:
        door: Door | None = None
        if arguments.listen is not None:
            if arguments.bot or arguments.transport != "tcp":
                raise usage_error("--listen: goes with neither a command nor --transport stdio")
            if not cases:
                raise usage_error(f"--steps: {arguments.steps}: no such decision in {', '.join(games)}")
            door = stack.enter_context(contextlib.closing(_open_door(arguments.listen)))
            if not arguments.json:
                say(f"listening on {door.host}:{door.port}")
                flush_stdout()
        elif not arguments.bot:
            raise usage_error(
                "the command that starts the bot is missing: stellwerk kit doctor -- COMMAND..."
            )
        examination = Examination(
            command=tuple(arguments.bot),
            transport=arguments.transport,
            patience=patience(arguments.timeout),
            seed=arguments.seed,
            require_resume=arguments.require_resume,
            door=door,
        )
        findings = _take_steps(examination, games, steps, tells=not arguments.json)
    report = DoctorReport(
        command=tuple(shown(word, len(word)) for word in examination.command),
        transport=examination.transport,
        games=games,
        seed=examination.seed,
        passed=not has_failed(findings),
        steps=tuple(findings),
    )
    return conclude(arguments, report, findings, [name for name, _, _ in cases])


def _choose_games(names: Sequence[str]) -> tuple[GameName, ...]:
    for name in names:
        if name not in RULE_SETS:
            raise usage_error(f"--game: {unknown('game', name, RULE_SETS)}")
    return tuple(dict.fromkeys(names)) or tuple(RULE_SETS)


def _choose_steps(text: str, known: Mapping[str, Step]) -> list[Step]:
    """Return the steps that are named, separated by commas, in the order of their names."""
    names = list(known) if text == ALL else [name for name in text.split(",") if name]
    for name in names:
        if name not in known:
            raise usage_error(f"--steps: {unknown('step', name, known)}")
    if not names:
        raise usage_error("--steps: a name is missing")
    return [known[name] for name in names]


def _open_door(port: int) -> Door:
    try:
        return Door(port)
    except OSError as error:
        message = f"--listen {port}: {error.strerror or error}"
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise usage_error(message) from None
        raise infrastructure_error(message) from None


def _take_steps(
    examination: Examination, games: Sequence[GameName], steps: Sequence[Step], *, tells: bool
) -> list[Finding]:
    def announce(name: str, game: GameName) -> None:
        if tells:
            say(f"next  {name} ({game}, {game_of(game).seat_count} players)")
            flush_stdout()

    findings: Iterator[Finding]
    if examination.door is None:
        findings = examine(examination, games, steps)
        silence = "the bot has printed nothing"
    else:
        findings = examine_clients(examination, cases_of(steps, games), announce)
        silence = ""
    return list(tell_each(findings, silence) if tells else findings)
