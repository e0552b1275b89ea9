"""The program: `stellwerk` and `python -m stellwerk`.

Everything else is imported inside `main`, so that Ctrl-C ends in one line from the first moment.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command line, by default the one of this process, and return the exit code."""
    try:
        from stellwerk.command_line import run

        return run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return _report_interrupt()
    except BaseExceptionGroup as group:  # of tasks, one of them interrupted before they heeded signals
        return _report_bug() if group.subgroup(KeyboardInterrupt) is None else _report_interrupt()
    except Exception:
        return _report_bug()
    finally:
        _flush_stderr()


def _report_interrupt() -> int:
    with suppress(OSError):  # standard error is closed; the exit code says the same
        print("stellwerk: interrupted", file=sys.stderr)
    return 130  # as a shell says it of a program that SIGINT ended


def _report_bug() -> int:
    """Report a bug of ours: the exception that is being handled."""
    with suppress(OSError):
        print(
            "stellwerk: an error of Stellwerk itself; please report it with all that follows", file=sys.stderr
        )
        traceback.print_exc()
    return 4


def _flush_stderr() -> None:
    """Flush now, or point it nowhere: an interpreter that cannot flush at its end exits with 120."""
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stderr.fileno())
            os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
