"""HTTP for hostile clients: whatever one sends, or fails to send or to read, costs only itself."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from functools import partial

import pytest

from stellwerk_http.answers import POLICY, STATUSES, TEXT, Answer
from stellwerk_http.requests import MOST_HEAD_BYTES, MOST_TARGET_BYTES, Request, host_name
from stellwerk_http.server import (
    KEPT_FOR_PAGES,
    MOST_CONNECTIONS,
    MOST_REFUSED,
    HttpLimits,
    Reply,
    limits_for,
)
from stellwerk_http.streams import COMMENT_SECONDS, Stream
from stellwerk_web.show.channel import Channel
from tests.web.serving import HOST, Life, read_answer, serving

HELLO = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def hello(request: Request) -> Reply:
    return Answer(TEXT, f"hello at {request.path}".encode())


class Feeding:
    """A handler with one stream, and pages beside it."""

    def __init__(self) -> None:
        self.channel = Channel("life", lambda: b'{"whole":true}')
        self.readers: list[int] = []
        self.stream = Stream(self.channel, self.readers.append)
        self.channel.on_change = self.stream.ring

    async def __call__(self, request: Request) -> Reply:
        return self.stream if request.path == "/stream" else await hello(request)


def expect_refusal(life: Life, request: bytes, status: int, words: str) -> None:
    """Expect an answer with this status, a body that says why, and the end of the connection."""
    with life.reached() as sock:
        sock.sendall(request)
        got = read_answer(sock)
        assert got.status == status
        assert got.reason == STATUSES[status].decode()
        assert words in got.body.decode()
        assert got.headers["connection"] == "close"
        assert sock.recv(1) == b""


# -- what is answered --------------------------------------------------------------------------------


def test_every_answer_has_the_headers_that_keep_a_page_in_its_place() -> None:
    with serving(hello) as life:
        got = life.get("/somewhere")
    assert (got.status, got.body) == (200, b"hello at /somewhere")
    assert got.headers["content-security-policy"] == POLICY.decode()
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["referrer-policy"] == "no-referrer"
    assert got.headers["cross-origin-resource-policy"] == "same-origin"
    assert "set-cookie" not in got.headers
    assert "access-control-allow-origin" not in got.headers


def test_head_gets_the_headers_of_get_without_the_body() -> None:
    with serving(hello) as life:
        whole, head = life.get("/"), life.get("/", method="HEAD")
    assert (head.status, head.body, head.headers) == (200, b"", whole.headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE", "get"])
def test_only_get_and_head_are_answered(method: str) -> None:
    with serving(hello) as life:
        expect_refusal(life, f"{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), 405, "GET and HEAD")
        assert life.get("/", method=method).headers["allow"] == "GET, HEAD"


def test_a_connection_is_used_again_and_requests_may_come_together() -> None:
    with serving(hello) as life, life.reached() as sock:
        sock.sendall(HELLO + b"GET /two HTTP/1.1\r\nHost: localhost\r\n\r\n" + HELLO)
        assert [read_answer(sock).body for _ in range(3)] == [b"hello at /", b"hello at /two", b"hello at /"]
        sock.sendall(HELLO)
        assert read_answer(sock).body == b"hello at /"


def test_a_client_that_has_sent_all_it_will_send_gets_its_answer() -> None:
    with serving(hello) as life, life.reached() as sock:
        sock.sendall(HELLO)
        sock.shutdown(socket.SHUT_WR)
        assert read_answer(sock).status == 200
        assert sock.recv(1) == b""


def test_http_1_0_gets_an_answer_and_the_end() -> None:
    with serving(hello) as life, life.reached() as sock:
        sock.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert read_answer(sock).body == b"hello at /"
        assert sock.recv(1) == b""


def test_an_error_of_ours_ends_one_request_and_nothing_else() -> None:
    async def broken(request: Request) -> Reply:
        if request.path == "/broken":
            raise ZeroDivisionError
        return await hello(request)

    with serving(broken) as life:
        with life.reached() as other:
            got = life.get("/broken")
            assert (got.status, got.headers["connection"]) == (500, "close")
            assert b"ZeroDivisionError" not in got.body
            other.sendall(HELLO)
            assert read_answer(other).status == 200
        assert [type(bug) for bug in life.bugs] == [ZeroDivisionError]
        life.bugs.clear()


# -- who is asked for --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8080", "LOCALHOST", "127.0.0.1:1", "[::1]", "localhost."]
)
def test_the_names_of_the_loopback_lead_here(host: str) -> None:
    with serving(hello) as life:
        assert life.get("/", host=host).status == 200


@pytest.mark.parametrize(
    "host",
    ["attacker.example", "localhost.attacker.example", "127.0.0.1.attacker.example", "10.0.0.1", "[::2]"],
)
def test_a_foreign_name_that_leads_here_gets_nothing(host: str) -> None:
    """DNS rebinding: a page of the internet whose name suddenly means this machine must read nothing."""
    with serving(hello) as life:
        got = life.get("/", host=host)
    assert got.status == 421
    assert b"hello" not in got.body


def test_a_name_that_the_organizer_allows_leads_here() -> None:
    with serving(hello, names=("matches.example.org",)) as life:
        assert life.get("/", host="Matches.Example.org:443").status == 200
        other = life.get("/", host="example.org")
    assert (other.status, b"put the name behind the port: 8080,example.org" in other.body) == (421, True)


@pytest.mark.parametrize(
    "host", ["", " ", ":80", "[::1", "[nonsense]", "localhost:http", "localhost:123456", "[::1]x"]
)
def test_a_host_that_is_no_name_is_refused(host: str) -> None:
    assert host_name(host) is None
    with serving(hello) as life:
        assert life.get("/", host=host).status == 400


def test_a_request_without_host_or_with_two_is_refused() -> None:
    with serving(hello) as life:
        expect_refusal(life, b"GET / HTTP/1.1\r\n\r\n", 400, "Host")
        expect_refusal(life, b"GET / HTTP/1.0\r\n\r\n", 400, "Host")
        two = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: attacker.example\r\n\r\n"
        expect_refusal(life, two, 400, "Host")


def test_a_proxy_s_form_of_address_is_refused() -> None:
    with serving(hello) as life:
        absolute = b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
        expect_refusal(life, absolute, 400, "begins with /")
        expect_refusal(life, b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "begins with /")


# -- what is not a request ---------------------------------------------------------------------------


@pytest.mark.parametrize("line", [b"GET / HTTP/2.0 and more", b"\xff\xfe<script>", b"GET /\x00 HTTP/1.1"])
def test_a_request_line_that_is_refused_is_not_repeated(line: bytes) -> None:
    with serving(hello) as life, life.reached() as sock:
        sock.sendall(line + b"\r\nHost: localhost\r\n\r\n")
        assert read_answer(sock).body == b"not a request of HTTP/1.1: illegal request line\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),  # a handshake of TLS
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"GET /\r\n\r\n",  # HTTP/0.9
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
        b"GET /\xc3\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_bytes_that_are_no_request_of_http_1_1_are_refused_with_words(request_bytes: bytes) -> None:
    with serving(hello) as life, life.reached() as sock:
        sock.sendall(request_bytes)
        sock.shutdown(socket.SHUT_WR)
        got = read_answer(sock)
        assert got.status in (400, 505)
        assert got.body
        assert sock.recv(1) == b""


@pytest.mark.parametrize(
    "headers",
    ["Content-Length: 1", "Content-Length: 999999999999", "Transfer-Encoding: chunked", "Content-Length: 01"],
)
def test_a_request_with_a_body_is_refused_before_the_body_comes(headers: str) -> None:
    with serving(hello) as life:
        request = f"GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n".encode()
        expect_refusal(life, request, 413, "no body")


def test_a_refused_client_that_is_still_sending_reads_why() -> None:
    """To close with unread bytes would reset the connection, and take the answer back."""
    with serving(hello) as life, life.reached() as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n" + bytes(100_000))
        assert read_answer(sock).status == 405
        sock.sendall(bytes(100_000))
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(1) == b""


@pytest.mark.parametrize("part", ["header", "target", "headers"])
def test_a_head_that_is_too_large_is_refused(part: str) -> None:
    long = b"x" * MOST_HEAD_BYTES
    request = {
        "header": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: %b\r\n\r\n" % long,
        "target": b"GET /%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % long,
        "headers": b"GET / HTTP/1.1\r\nHost: localhost\r\n%b\r\n" % (b"X: y\r\n" * 2000),
    }[part]
    with serving(hello) as life:
        expect_refusal(life, request, 431, "at most")
        begin = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "
        largest = begin + b"x" * (MOST_HEAD_BYTES - len(begin) - 4) + b"\r\n\r\n"
        assert life.answer(largest).status == 200


def test_an_address_that_is_too_long_is_refused() -> None:
    with serving(hello) as life:
        assert life.get("/" + "x" * MOST_TARGET_BYTES).status == 414
        assert life.get("/" + "x" * (MOST_TARGET_BYTES - 1)).status == 200


# -- time and number ---------------------------------------------------------------------------------


def test_a_head_that_comes_drop_by_drop_has_to_be_there_in_time() -> None:
    """Slowloris: a byte now and then does not keep a connection."""
    with serving(hello) as life, life.reached() as sock:
        for byte in b"GET / HTTP":
            sock.sendall(bytes([byte]))
            life.wait(1.01)
        got = read_answer(sock)
        assert (got.status, got.headers["connection"]) == (408, "close")


def test_a_thousand_idle_connections_keep_nobody_out_and_go_after_a_while() -> None:
    with serving(hello) as life, ExitStack() as stack:
        idle = [stack.enter_context(life.reached()) for _ in range(1000)]
        assert life.get("/").status == 200
        life.wait(10.1)
        assert all(sock.recv(1) == b"" for sock in idle)


def test_an_idle_connection_after_an_answer_goes_after_a_while() -> None:
    with serving(hello) as life, life.reached() as sock:
        sock.sendall(HELLO)
        read_answer(sock)
        life.wait(10.1)
        assert sock.recv(1) == b""


def test_one_connection_too_many_hears_so() -> None:
    with serving(hello, HttpLimits(connections=3)) as life, ExitStack() as stack:
        for _ in range(3):
            sock = stack.enter_context(life.reached())
            sock.sendall(HELLO)
            read_answer(sock)
        with life.reached() as sock:
            assert read_answer(sock).status == 503
        stack.close()
        life.settle()
        assert life.get("/").status == 200


def test_streams_leave_connections_for_pages() -> None:
    feeding = Feeding()
    with serving(feeding, HttpLimits(connections=8)) as life, ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(life.reader("/stream")).next()
        got = life.get("/stream")
        assert (got.status, got.headers["retry-after"]) == (503, "10")
        assert life.get("/").status == 200


def test_pages_with_very_many_connections_keep_a_few_from_streams() -> None:
    assert HttpLimits().streams == MOST_CONNECTIONS - KEPT_FOR_PAGES


def test_a_crowd_beyond_the_limit_costs_few_descriptors() -> None:
    """Those beyond the first ones that are told so are closed at once."""
    with serving(hello, HttpLimits(connections=1)) as life, ExitStack() as stack:
        first, *others = [stack.enter_context(life.reached()) for _ in range(2 + 2 * MOST_REFUSED)]
        refused, *closed = [len(sock.recv(1)) for sock in others[:MOST_REFUSED]], *others[MOST_REFUSED:]
        assert all(refused)
        assert {sock.recv(1) for sock in closed} == {b""}
        first.sendall(HELLO)
        assert read_answer(first).status == 200


@pytest.mark.parametrize(("descriptors", "connections"), [(1_048_576, 4096), (1024, 992), (64, 32), (20, 1)])
def test_there_are_no_more_connections_than_descriptors(descriptors: int, connections: int) -> None:
    assert limits_for(descriptors).connections == connections


def test_a_client_that_does_not_take_a_long_answer_is_closed() -> None:
    async def long(request: Request) -> Reply:
        return Answer(TEXT, bytes(20_000_000))

    with serving(long) as life, life.reached(receive_bytes=4096) as sock:
        sock.sendall(HELLO)
        sock.recv(1)
        life.wait(20.1)
        size = 1
        while data := sock.recv(1_000_000):
            size += len(data)
        assert size < 20_000_000


# -- streams -----------------------------------------------------------------------------------------


def test_a_reader_gets_the_state_and_then_each_change() -> None:
    feeding = Feeding()
    with serving(feeding) as life, life.reader("/stream") as reader:
        assert reader.response.headers["content-type"] == "text/event-stream"
        assert reader.response.headers["x-accel-buffering"] == "no"
        assert reader.response.headers["cache-control"] == "no-store"
        state = reader.next()
        assert (state.id, state.kind, state.data) == ("life-0", "state", {"whole": True})
        for number in (1, 2):
            life.do(partial(feeding.channel.put, b'{"n":%d}' % number))
            change = reader.next()
            assert (change.id, change.kind, change.data) == (f"life-{number}", "change", {"n": number})


def test_a_reader_that_comes_back_gets_what_it_has_missed() -> None:
    feeding = Feeding()
    with serving(feeding) as life:
        for number in range(1, 5):
            life.do(partial(feeding.channel.put, b'{"n":%d}' % number))
        with life.reader("/stream", "Last-Event-ID: life-2") as reader:
            assert [reader.next().data["n"] for _ in range(2)] == [3, 4]
        with life.reader("/stream?after=life-3") as reader:
            assert reader.next().data["n"] == 4


@pytest.mark.parametrize("last", ["other-2", "life-99", "life--1", "life-x", "", "life-2; drop", "life-²"])
def test_a_position_that_is_none_gets_the_state(last: str) -> None:
    feeding = Feeding()
    with serving(feeding) as life:
        life.do(lambda: feeding.channel.put(b"{}"))
        with life.reached() as sock:
            sock.sendall(
                b"GET /stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: %b\r\n\r\n" % last.encode()
            )
            from tests.web.serving import StreamReader

            assert StreamReader(sock).next().kind == "state"


def test_a_silent_stream_has_a_comment_now_and_then() -> None:
    with serving(Feeding()) as life, life.reader("/stream") as reader:
        reader.next()
        for _ in range(3):
            life.wait(COMMENT_SECONDS)
            reader.wait_for_comment()


def test_a_reader_that_hangs_up_is_let_go_at_once() -> None:
    feeding = Feeding()
    with serving(feeding) as life:
        with life.reader("/stream") as reader:
            reader.next()
            assert feeding.readers == [1]
        life.settle()
        assert feeding.readers == [1, 0]


def test_a_reader_that_speaks_is_let_go() -> None:
    with serving(Feeding()) as life, life.reader("/stream") as reader:
        reader.next()
        reader.socket.sendall(HELLO)
        with pytest.raises((EOFError, ConnectionResetError)):
            reader.next()


def test_a_reader_that_stops_reading_gets_the_state_when_it_reads_again() -> None:
    """No queue: what it has missed is replaced by how things are now."""
    feeding = Feeding()
    large = b'{"n":"%b"}' % (b"x" * 50_000)
    with (
        serving(feeding) as life,
        life.reader("/stream", receive_bytes=4096) as slow,
        life.reader("/stream") as quick,
    ):
        slow.next()
        quick.next()
        for _ in range(60):
            life.do(lambda: feeding.channel.put(large))
            assert quick.next().kind == "change"
        kinds = [slow.next().kind]
        while kinds[-1] != "state":
            kinds.append(slow.next().kind)
        assert kinds[0] == "change"
        assert len(kinds) < 20
        life.do(lambda: feeding.channel.put(b'{"n":"last"}'))
        assert slow.next().data == {"n": "last"}


def test_a_reader_that_never_reads_again_is_closed_and_holds_nobody_up() -> None:
    feeding = Feeding()
    large = b'{"n":"%b"}' % (b"x" * 50_000)
    with (
        serving(feeding) as life,
        life.reader("/stream", receive_bytes=4096) as stuck,
        life.reader("/stream") as quick,
    ):
        stuck.next()
        quick.next()
        for _ in range(60):
            life.do(lambda: feeding.channel.put(large))
            quick.next()
        life.wait(20.1)
        assert feeding.readers[-1] == 1
        life.do(lambda: feeding.channel.put(b"{}"))
        assert quick.next().data == {}


def test_a_change_with_a_line_break_stays_one_record() -> None:
    """JSON of another program may have line breaks between its tokens. In a stream they would end a line."""
    feeding = Feeding()
    with serving(feeding) as life, life.reader("/stream") as reader:
        reader.next()
        life.do(lambda: feeding.channel.put(b'{"a":\r1,\n"b":\r\n2}'))
        assert reader.next().data == {"a": 1, "b": 2}


def test_head_of_a_stream_ends_at_once() -> None:
    feeding = Feeding()
    with serving(feeding) as life:
        got = life.get("/stream", method="HEAD")
    assert (got.status, got.headers["content-type"], got.body) == (200, "text/event-stream", b"")
    assert feeding.readers == []


def test_a_stream_over_http_1_0_has_no_chunks() -> None:
    with serving(Feeding()) as life, life.reached() as sock:
        sock.sendall(b"GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n")
        read = b""
        while b"\n\n" not in read.partition(b"\r\n\r\n")[2]:
            read += sock.recv(1000)
        assert read.endswith(b'\r\n\r\nid: life-0\nevent: state\ndata: {"whole":true}\n\n')


def test_the_server_s_own_address_is_a_name_of_it() -> None:
    """Whoever types the address of the machine is no page that feigns a name."""
    with serving(hello) as life:
        assert life.get("/", host=f"{HOST}:{life.port}").status == 200
