"""How much memory this process occupies."""

from __future__ import annotations


def resident_kb() -> int | None:
    """Return how much memory this process occupies, in kB. Only Linux shows it."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for text in status:
                if text.startswith("VmRSS:"):
                    return int(text.split()[1])
    except OSError:
        pass
    return None
