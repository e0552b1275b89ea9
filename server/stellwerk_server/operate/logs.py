"""Logs: words for events, keys for data, one line each. For people on a terminal, as JSON elsewhere.

Law: no token, no seed and no hidden hand in any log. That is why a traceback shows where and what, and never
the values of variables.
"""

from __future__ import annotations

import logging
from typing import TextIO

import structlog
from structlog.typing import FilteringBoundLogger

LEVELS = ("debug", "info", "warning", "error")


def make_log(
    stream: TextIO, level: str = "info", *, json: bool | None = None
) -> structlog.typing.FilteringBoundLogger:
    """Make a logger that writes to `stream`: as JSON on request, or if it is not a terminal."""
    as_json = not stream.isatty() if json is None else json
    processors: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if as_json:
        tracebacks = structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        )
        processors += [tracebacks, structlog.processors.JSONRenderer()]
    else:
        plain = structlog.dev.plain_traceback
        processors.append(structlog.dev.ConsoleRenderer(exception_formatter=plain))
    log: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(stream),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        cache_logger_on_first_use=True,
    )
    return log
