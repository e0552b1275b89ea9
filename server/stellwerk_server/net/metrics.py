"""The numbers of a server for monitoring, in the text format of Prometheus.

Laws: counting costs a served decision nothing: what matches and connections note anyway is summed up when
somebody asks, and for the last time when they end. No label has a value that a client can choose. No number
shows that a seat has answered a choice that others still owe (L16): so refused acts count when their match is
over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from stellwerk_protocol.answer_times import NOT_TIMED
from stellwerk_server.lobby.news import ConnectionClosed, LobbyEvent, MatchEnded
from stellwerk_server.operate.resources import resident_kb

if TYPE_CHECKING:
    from stellwerk_server.match.match_session import MatchSession
    from stellwerk_server.net.server import Server

BUCKETS_MS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000)


class Metrics:
    """The counts so far. `hear` is the lobby's listener."""

    def __init__(self) -> None:
        self._refused: Counter[str] = Counter()  # of connections and matches that have ended
        self._answers = [0] * (len(BUCKETS_MS) + 1)
        self._answers_ms = 0
        self._counted: dict[str, list[int]] = {}  # how many times of each seat are in these, by running match

    def hear(self, event: LobbyEvent) -> None:
        """Keep what a connection or a match leaves."""
        match event:
            case ConnectionClosed(connection):
                self._refused.update(connection.refused.counts)
            case MatchEnded(match):
                self._count_answers(match)
                del self._counted[match.id]
                for seat in match.seats:
                    self._refused.update(seat.refused.counts)
            case _:
                pass

    def text(self, server: Server) -> bytes:
        """Return all numbers as they are now."""
        return generate_latest(_Numbers(self, server))

    def numbers(self, server: Server) -> Iterator[Metric]:
        """Yield all numbers as they are now."""
        lobby = server.lobby
        counts = lobby.counts()
        yield _make_gauge("connections", "Open connections, with or without a login.", counts.connections)
        yield _make_gauge("sessions", "Sessions, connected or not.", counts.sessions)
        yield _make_gauge("rooms", "Rooms that wait for players.", counts.rooms)
        yield _make_gauge("matches_running", "Matches that are being played.", counts.running)
        yield _make_gauge("draining", "1 while the server shuts down.", float(lobby.shutdown.has_begun))
        ended = CounterMetricFamily("stellwerk_matches", "Matches that are over.", labels=["outcome"])
        ended.add_metric(["finished"], counts.finished)
        ended.add_metric(["failed"], counts.failed)
        yield ended
        yield _make_counter("decisions", "Moves made in all matches.", counts.decisions)
        yield self._answer_times(server)
        refused = CounterMetricFamily(
            "stellwerk_refused_lines", "Lines of clients that got an error, by its code.", labels=["code"]
        )
        for code, count in sorted(self._all_refused(server).items()):
            refused.add_metric([code], count)
        yield refused
        late = "How long all clocks have stood still because the server was late."
        yield _make_counter("clock_late_seconds", late, server.clock.late_ms / 1000)
        dropped = lobby.setup.log_lines_dropped()
        yield _make_counter("log_lines_dropped", "Lines of the log that could not be written.", dropped)
        if (memory := resident_kb()) is not None:
            yield _make_gauge("resident_memory_bytes", "Memory in use.", memory * 1024)

    def _answer_times(self, server: Server) -> Metric:
        for match in server.lobby.matches.running.values():
            self._count_answers(match)
        bounds = [*(str(bound / 1000) for bound in BUCKETS_MS), "+Inf"]
        family = HistogramMetricFamily("stellwerk_answer_seconds", "Time that answers to asks took.")
        buckets = list(zip(bounds, map(float, accumulate(self._answers)), strict=True))
        family.add_metric([], buckets, self._answers_ms / 1000)
        return family

    def _count_answers(self, match: MatchSession) -> None:
        """Count the answers of a match that have come since this was called last."""
        counted = self._counted.setdefault(match.id, [0] * len(match.seats))
        for number, (seat, known) in enumerate(zip(match.seats, match.known_counts, strict=True)):
            for took in seat.times[counted[number] : known]:
                if took != NOT_TIMED:
                    self._answers[bisect_left(BUCKETS_MS, took)] += 1
                    self._answers_ms += took
            counted[number] = known

    def _all_refused(self, server: Server) -> Counter[str]:
        refused = self._refused.copy()
        for connection in server.lobby.connections:
            refused.update(connection.refused.counts)
        return refused


class _Numbers(Collector):
    def __init__(self, metrics: Metrics, server: Server) -> None:
        self._metrics = metrics
        self._server = server

    def collect(self) -> Iterator[Metric]:
        return self._metrics.numbers(self._server)


def _make_gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"stellwerk_{name}", meaning, value)


def _make_counter(name: str, meaning: str, value: float) -> Metric:
    return CounterMetricFamily(f"stellwerk_{name}", meaning, value)
