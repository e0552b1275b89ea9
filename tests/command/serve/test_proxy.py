"""Live pages behind a real nginx, configured as the server's page says: TLS, a password, streams, names."""

from __future__ import annotations

import base64
import datetime
import hashlib
import ipaddress
import re
import socket
import ssl
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.command.program import REPOSITORY
from tests.server.served_process import serving
from tests.tools import needs, path_of
from tests.web.serving import HOST, PATIENCE, Got, StreamReader, read_answer
from tests.web.watching import watching

pytestmark = needs("nginx")

NAME = "matches.example.org"
PASSWORD = base64.b64encode(b"ann:open sesame").decode()
PAGE = (REPOSITORY / "server/README.md").read_text("utf-8")


@dataclass(frozen=True)
class Proxy:
    port: int
    certificate: Path

    @contextmanager
    def asked(
        self, path: str, *headers: str, host: str = NAME, password: str = PASSWORD
    ) -> Generator[socket.socket]:
        context = ssl.create_default_context(cafile=self.certificate)
        with (
            socket.create_connection((HOST, self.port), timeout=PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname=NAME) as sock,
        ):
            lines = [f"GET {path} HTTP/1.1", f"Host: {host}"]
            if password:
                lines.append(f"Authorization: Basic {password}")
            sock.sendall("\r\n".join([*lines, "", ""]).encode())
            yield sock

    def get(self, path: str, *, host: str = NAME, password: str = PASSWORD) -> Got:
        with self.asked(path, host=host, password=password) as sock:
            return read_answer(sock)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Make a certificate for the name, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName(NAME), x509.IPAddress(ipaddress.ip_address(HOST))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain, secret = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return chain, secret


def site_of_the_page(changes: dict[str, str]) -> str:
    """Return the configuration on the page, with this test's names for what everybody changes."""
    [site] = re.findall(r"```nginx\n(.+?)```", PAGE, re.DOTALL)
    for old, new in changes.items():
        assert site.count(old) == 1, old
        site = site.replace(old, new)
    return str(site)


@contextmanager
def nginx(folder: Path, pages: int, certificate: tuple[Path, Path]) -> Generator[Proxy]:
    """Run nginx in a folder of its own, without a daemon and without root."""
    with socket.create_server((HOST, 0)) as place:
        port: int = place.getsockname()[1]
    chain, secret = certificate
    hashed = base64.b64encode(hashlib.sha1(b"open sesame").digest()).decode()
    (folder / "passwords").write_text(f"ann:{{SHA}}{hashed}\n")
    site = site_of_the_page(
        {
            "listen 443 ssl": f"listen {HOST}:{port} ssl",
            "/etc/ssl/certs/matches.example.org.pem": str(chain),
            "/etc/ssl/private/matches.example.org.key": str(secret),
            "/etc/nginx/matches.passwords": str(folder / "passwords"),
            "http://127.0.0.1:8080": f"http://127.0.0.1:{pages}",
        }
    )
    places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"    {name}_temp_path {folder}/{name};\n" for name in places)
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\nerror_log stderr;\nworker_processes 1;\nevents {{ worker_connections 64; }}\n"
        f"http {{\n    access_log off;\n{temporary}{site}}}\n"
    )
    with (folder / "nginx.log").open("wb") as log:
        words: list[str | Path] = [
            path_of("nginx"),
            "-p",
            folder,
            "-c",
            folder / "nginx.conf",
            "-e",
            "stderr",
            "-g",
            "daemon off;",
        ]
        if Path("/proc/self").stat().st_uid == 0:
            words[-1] = "daemon off; user root;"  # who may read this folder
        process = subprocess.Popen(words, stderr=log, stdin=subprocess.DEVNULL)
    try:
        while True:
            assert process.poll() is None, (folder / "nginx.log").read_text()
            try:
                socket.create_connection((HOST, port), timeout=PATIENCE).close()
                break
            except ConnectionRefusedError:
                continue
        yield Proxy(port, chain)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_pages_behind_the_proxy_of_the_page_need_a_password_and_their_name(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    with (
        serving(tmp_path) as server,
        watching(tmp_path, f"127.0.0.1:{server.port}", "--listen", f"0,{NAME}") as pages,
        nginx(tmp_path, pages.port, certificate) as proxy,
    ):
        assert proxy.get("/", password="").status == 401
        assert proxy.get("/stream", password="").status == 401
        assert proxy.get("/", password=base64.b64encode(b"ann:guess").decode()).status == 401
        got = proxy.get("/")
        assert got.status == 200
        assert got.headers["content-security-policy"].startswith("default-src 'none'")
        assert got.headers["x-content-type-options"] == "nosniff"
        assert proxy.get("/", host="attacker.example").status == 421


def test_a_stream_passes_the_proxy_change_by_change(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    """Unbuffered: each act's events are read from the proxy before the next act is made."""
    flags = ("--set=time.move_ms=600000", "--set=limits.messages_a_second=100000")
    with (
        serving(tmp_path, *flags) as server,
        watching(tmp_path, f"127.0.0.1:{server.port}", "--listen", f"0,{NAME}") as pages,
        nginx(tmp_path, pages.port, certificate) as proxy,
    ):
        bot = server.call()
        bot.login("ann")
        ask = bot.practice()
        pages.match_when(match=ask["match"])
        with (
            proxy.asked(f"/stream/match/{ask['match']}") as sock,
            closing(StreamReader(sock)) as reader,
        ):
            count = 0
            while count == 0:
                record = reader.next()
                count = len(record.data["events"]) if record.data.get("start") else 0
            for _ in range(5):
                ask = bot.play_on(ask, turns=1)
                while count < ask["after_event"]:
                    count += len(reader.next().data.get("events", ()))
