"""The numbers for monitoring: what they count, and what they must not show."""

from __future__ import annotations

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from stellwerk_protocol.error_codes import ERROR_CODES
from stellwerk_server.net.metrics import Metrics
from tests.server.net.test_status import Page
from tests.server.serving import Site, on_site

PREFIX = "stellwerk_"


class Numbers:
    """The numbers of a server, as a scraper reads them."""

    def __init__(self, site: Site, metrics: Metrics) -> None:
        self._page = Page(site, metrics)

    def text(self) -> str:
        head, body = self._page.answer(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
        assert head.startswith(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        )
        assert f"Content-Length: {len(body)}".encode() in head
        return body.decode()

    def read(self) -> dict[str, float]:
        """Return each number by its name and label."""
        families: list[Metric] = list(text_string_to_metric_families(self.text()))
        samples = [sample for family in families for sample in family.samples]
        return {
            " ".join([sample.name.removeprefix(PREFIX), *sample.labels.values()]): sample.value
            for sample in samples
        }


def test_they_count_what_the_status_page_counts() -> None:
    metrics = Metrics()
    with on_site(listener=metrics.hear) as site:
        numbers = Numbers(site, metrics)
        player = site.player("player")
        ask = player.play_on(player.practice("card_game"), turns=3)
        during = numbers.read()
        assert (during["connections"], during["sessions"], during["matches_running"]) == (1, 1, 1)
        player.play_on(ask)
        after = numbers.read()
        assert (after["matches_running"], after["matches_total finished"]) == (0, 1)
        assert after["matches_total failed"] == 0
        assert 3 < during["decisions_total"] < after["decisions_total"]
        assert after["draining"] == 0
        site.stall(60_000)
        assert 59 < numbers.read()["clock_late_seconds_total"] < 61


def test_every_answer_of_a_client_is_in_the_histogram_once_also_after_the_match() -> None:
    metrics = Metrics()
    with on_site(listener=metrics.hear) as site:
        numbers, player = Numbers(site, metrics), site.player("player")
        ask = player.practice("card_game")
        assert numbers.read()["answer_seconds_count"] == 0
        for count in (1, 2, 3):
            site.wait(300)
            player.act(ask)
            ask = player.until("ask")
            read = numbers.read()
            assert read["answer_seconds_count"] == read["answer_seconds_bucket +Inf"] == count
            assert read["answer_seconds_bucket 0.2"] == 0
            assert read["answer_seconds_bucket 0.5"] == count
        answers = 3
        while ask["type"] == "ask":
            ask = player.play_on(ask, turns=1)
            answers += 1
        after = numbers.read()
        assert after["answer_seconds_count"] == answers
        player.close()
        site.wait(600_000)
        assert numbers.read()["answer_seconds_count"] == after["answer_seconds_count"]


def test_refused_lines_are_counted_by_their_code_also_after_the_connection() -> None:
    metrics = Metrics()
    with on_site(listener=metrics.hear) as site:
        numbers, player = Numbers(site, metrics), site.player("player")
        player.send(b"hello?\n")
        player.until("error")
        ask = player.practice("card_game")
        player.act(ask, index=200)
        refusal = player.until("error")["code"]
        assert f"refused_lines_total {refusal}" not in numbers.read()  # L16: not before the match is over
        player.play_on(ask)
        wanted = {"refused_lines_total wire.not_json": 1.0, f"refused_lines_total {refusal}": 1.0}
        read = numbers.read()
        assert {name: read[name] for name in wanted} == wanted
        player.close()
        site.wait(600_000)
        assert {name: numbers.read()[name] for name in wanted} == wanted


def test_no_label_is_a_word_of_a_client() -> None:
    metrics = Metrics()
    with on_site(listener=metrics.hear) as site:
        numbers, player = Numbers(site, metrics), site.player("a_name_of_its_own")
        player.send(b'{"type":"a_word_of_its_own"}\n')
        player.until("error")
        player.practice("card_game")
        labels = {
            label
            for family in text_string_to_metric_families(numbers.text())
            for sample in family.samples
            for name, label in sample.labels.items()
            if name != "le"
        }
        assert labels <= {"finished", "failed", *ERROR_CODES}
        assert "its_own" not in numbers.text()


def test_they_do_not_tell_that_one_seat_has_answered_a_choice_that_both_owe() -> None:
    """L16: whoever starts bots on this machine may read the numbers."""
    metrics = Metrics()
    with on_site(listener=metrics.hear) as site:
        numbers, one, other = Numbers(site, metrics), site.player("one"), site.player("other")
        asks = site.pair(one, other, "usa")
        before = numbers.read()
        one.act(asks[0])
        one.until("ok")
        read = numbers.read()
        for name in ("clock_late_seconds_total", "resident_memory_bytes"):
            del before[name], read[name]
        assert read == before
        other.act(asks[1])
        other.until("event")
        assert numbers.read()["answer_seconds_count"] == 2
