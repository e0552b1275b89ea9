"""Run a module as Python would on a system without Unix's modules: `without_unix.py MODULE ARGUMENT...`.

Only the project's own imports fail: the standard library of this machine needs those modules itself, and has
other code for other systems.
"""

from __future__ import annotations

import builtins
import os
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Final

MISSING: Final = ("fcntl", "grp", "pwd", "resource", "select", "termios")

_import = builtins.__import__


def _import_as_elsewhere(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    importer = str((globals or {}).get("__name__", ""))
    if name in MISSING and importer.startswith("stellwerk"):
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)
    return _import(name, globals, locals, fromlist, level)


if __name__ == "__main__":
    builtins.__import__ = _import_as_elsewhere
    for holder, names in ((signal, ("pthread_sigmask", "SIGKILL", "SIGHUP")), (os, ("sysconf", "killpg"))):
        for missing in names:
            delattr(holder, missing)
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
