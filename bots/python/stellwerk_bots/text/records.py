"""`python -m stellwerk_bots.text.records FILE...`: how many answers went wrong, by model, with intervals.

Law: the matches are the sample, because the answers of one match depend on each other. Each share comes with
its 95 % interval by Wilson, for as many calls as the matches are worth.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any, Final

from stellwerk_base.texts import counted

Record = dict[str, Any]  # Any: texts and numbers

SHARES: Final = (("unparsable", "calls"), ("bad_index", "calls"), ("refused", "calls"), ("failed", "calls"))
FALLBACKS: Final = ("by_fallback", "asks")
USAGE: Final = 2
_Z: Final = 1.96


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m stellwerk_bots.text.records",
        description="Summarize the records of language models. Of the calls: how many answers were "
        "unparsable, named no listed move, were refused by the rules, or did not come. Of the moves: how "
        "many the fallback made.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="as --record of the bot writes it")
    by_model: dict[str, list[Record]] = {}
    for name in parser.parse_args(arguments).files:
        try:
            for record in _records_in(name):
                by_model.setdefault(record["model"] or name, []).append(record)
        except (OSError, ValueError, KeyError) as error:
            print(f"records: {name}: expected lines of --record: {error!r}", file=sys.stderr)
            return USAGE
    for model, records in sorted(by_model.items()):
        print("\n".join(summary(model, records)))
    return 0


def _records_in(name: str) -> Iterator[Record]:
    with open(name, encoding="utf-8") as file:
        for line in file:
            record: Record = json.loads(line)
            yield {**record, **{field: int(record[field]) for field in ("asks", "calls", "by_fallback")}}


def summary(model: str, records: Sequence[Record]) -> Iterator[str]:
    """Yield the lines about one model."""
    calls = sum(record["calls"] for record in records)
    ms = sum(record["model_ms"] for record in records) / max(1, calls)
    tokens = "".join(
        f", {total:,} {field.replace('_', ' ')}"
        for field in ("prompt_tokens", "answer_tokens")
        if (total := sum(record[field] for record in records))
    )
    matches = counted(len(records), "match", "matches")
    yield f"{model}: {matches}, {calls:,} calls, {ms:,.1f} ms a call{tokens}"
    for part, whole in (*SHARES, FALLBACKS):
        low, share, high = share_of(records, part, whole)
        name = part.replace("_", " ")
        yield f"  {name:<12} {100 * share:5.1f} % [{100 * low:.1f}, {100 * high:.1f}] of the {whole}"


def share_of(records: Sequence[Record], part: str, whole: str) -> tuple[float, float, float]:
    """Return a share with its interval: the lower limit, the share, the upper one."""
    sizes = [record[whole] for record in records]
    total = sum(sizes)
    if not total:
        return 0.0, 0.0, 1.0
    share = sum(record[part] for record in records) / total
    worth = float(total)
    if len(records) > 1 and 0 < share < 1:
        off = sum((record[part] - share * record[whole]) ** 2 for record in records)
        variance = off * len(records) / (len(records) - 1) / total**2
        worth = min(worth, share * (1 - share) / variance) if variance else worth
    center = (share + _Z**2 / (2 * worth)) / (1 + _Z**2 / worth)
    half = _Z / (1 + _Z**2 / worth) * sqrt(share * (1 - share) / worth + _Z**2 / (4 * worth**2))
    return max(0.0, center - half), share, min(1.0, center + half)


if __name__ == "__main__":
    sys.exit(main())
