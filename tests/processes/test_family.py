"""What the kernel counts of processes, whatever they are."""

from __future__ import annotations

import subprocess
import sys

from stellwerk_processes.bench.family import used_ms

# 15 is PR_SET_NAME.
NAMED = r"""
import ctypes, time
ctypes.CDLL(None).prctl(15, b") \xff\xfe 1 (")
while time.process_time() < 0.1:
    pass
print(flush=True)
input()
"""


def test_a_process_may_have_a_name_that_is_no_text() -> None:
    with subprocess.Popen(
        [sys.executable, "-I", "-c", NAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert used_ms(process.pid) >= 100
        process.communicate(b"\n")
    assert used_ms(process.pid) == 0
