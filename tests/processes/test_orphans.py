"""Orphans: those of bots are ended by a program that did not start them, and nobody else is."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

# In a program of its own: what it ends would otherwise be any child of the tests.
PROGRAM: Final = """
import os, subprocess, sys, time
sys.path[:0] = {path!r}
from stellwerk_processes.bench.orphans import end_orphans, forget, start_noted

SLEEP = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
LEAVE = '''
import os, sys, time
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    time.sleep(60)
sys.stdin.readline()
'''

def popen(command, session=True, **options):
    return subprocess.Popen(command, start_new_session=session, **options)

before = popen(SLEEP)                            # there before any bot
noted = start_noted(lambda: popen(SLEEP))        # another bot's supervisor
plain = popen(SLEEP, session=False)              # a program that this one uses
pipe = subprocess.PIPE
struck = start_noted(lambda: popen([sys.executable, "-I", "-S", "-c", LEAVE], stdin=pipe, stdout=pipe))
orphan = int(struck.stdout.readline())
struck.kill()
struck.wait()
forget(struck.pid)
assert os.path.exists(f"/proc/{{orphan}}")
assert end_orphans()
print(os.path.exists(f"/proc/{{orphan}}"), *(each.poll() for each in (before, noted, plain)))
for each in (before, noted, plain):
    each.kill()
"""


def test_only_orphans_of_bots_are_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(path=sys.path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("False None None None\n", "")
