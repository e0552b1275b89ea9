"""`stellwerk tournament`: competitions of bots that survive whatever happens to this machine.

A tournament is a folder with a `tournament.toml`. Results go to standard output, progress to standard error.
Exit codes: 0 done; 1 `verify` found something that does not agree, a bot cannot play or is absent so that
nothing began, no two bots played a match to its end, or `merge` refused a result; 2 the command line or the
folder cannot be used; 4 the machine failed, or blocks are void because of it; 130 stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from stellwerk.shared.errors import infrastructure_error, usage_error
from stellwerk.tournament.arguments import DECISIONS
from stellwerk.tournament.arguments import add_arguments as add_arguments


def run(arguments: argparse.Namespace) -> int:
    """Carry out a command. What it needs is imported here, so that help starts without it."""
    from stellwerk_server.operate.resources import collect_rarely
    from stellwerk_tournament.config.settings import SettingsError
    from stellwerk_tournament.schedule.schedule import ScheduleError
    from stellwerk_tournament.store.store import StoreError

    collect_rarely()  # lines are never in cycles, and looking for some took half of the time to read them
    try:
        return _carry_out(arguments)
    except (SettingsError, ScheduleError) as error:
        raise usage_error(str(error)) from None
    except StoreError as error:
        raise (infrastructure_error if error.is_machines else usage_error)(str(error)) from None


def _carry_out(arguments: argparse.Namespace) -> int:
    command: str = arguments.tournament_command
    if command == "block":
        from stellwerk.tournament.blocks import play_files

        return play_files(arguments)
    folder = Path(arguments.folder)
    if command == "init":
        from stellwerk.tournament.init import init

        return init(folder, arguments)
    if command in ("run", "export"):
        from stellwerk.tournament.play import play, show_schedule

        shows = command == "run" and arguments.dry_run
        return show_schedule(folder, arguments) if shows else play(folder, arguments)
    if command == "merge":
        from stellwerk.tournament.merge import merge_into

        return merge_into(folder, arguments.results)
    if command in DECISIONS:
        from stellwerk.tournament.decide import decide_in

        return decide_in(folder, arguments)
    from stellwerk.tournament import results

    match command:
        case "status":
            return results.show_status(folder, arguments.json)
        case "ratings":
            return results.show_ratings(folder, arguments.json)
        case "report":
            return results.make_report(folder, arguments.pages, arguments.all_pages)
        case _:
            return results.verify_folder(folder)
