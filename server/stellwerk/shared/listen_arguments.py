"""Where a tournament listens, on the command line: for remote bots, with TLS or without, and for readers of
the status page."""

from __future__ import annotations

import argparse
import re
import ssl
from typing import Final

from stellwerk.shared.choose_game import whole_number
from stellwerk.shared.errors import usage_error
from stellwerk_base.texts import shown
from stellwerk_server.net.listen_address import ListenAddress

_ADDRESS: Final = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<host>[^\[\]:\s]+)):(?P<port>[0-9]{1,5})")


def add_listen_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("remote bots")
    group.add_argument(
        "--listen", metavar="HOST:PORT", help="where they connect to; port 0 takes any free port"
    )
    group.add_argument("--tls-cert", metavar="FILE", help="certificate chain in PEM")
    group.add_argument("--tls-key", metavar="FILE", help="its key in PEM")
    group.add_argument(
        "--plaintext-tokens",
        action="store_true",
        default=None,
        help="accept tokens without TLS from other machines",
    )


def listen_address_of(arguments: argparse.Namespace) -> ListenAddress | None:
    """Read where remote bots connect to. None without `--listen`. CommandError if the arguments are wrong."""
    text: str | None = arguments.listen
    if text is None:
        for name in ("tls_cert", "tls_key", "plaintext_tokens"):
            if getattr(arguments, name) is not None:
                raise usage_error(f"--{name.replace('_', '-')}: goes with --listen only")
        return None
    address = _ADDRESS.fullmatch(text)
    port = int(address["port"]) if address else -1
    if address is None or port > 65_535:
        raise usage_error(
            f"--listen: expected HOST:PORT, such as 0.0.0.0:7878 or [::]:7878, not {shown(text, 80)!r}"
        )
    tls = tls_context(arguments.tls_cert, arguments.tls_key)
    return ListenAddress(address["v6"] or address["host"], port, tls, bool(arguments.plaintext_tokens))


def add_status_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("status page")
    group.add_argument(
        "--status-port",
        metavar="PORT",
        type=whole_number(0, 65_535),
        help="serve the state as JSON over HTTP there; 0 takes any free port",
    )
    group.add_argument("--status-host", metavar="HOST", help="default: 127.0.0.1: this machine only")


def status_of(arguments: argparse.Namespace) -> tuple[str, int] | None:
    """Read where the status page is. None without `--status-port`."""
    if arguments.status_port is None:
        if arguments.status_host is not None:
            raise usage_error("--status-host: goes with --status-port only")
        return None
    return arguments.status_host or "127.0.0.1", arguments.status_port


def status_words(arguments: argparse.Namespace) -> list[str]:
    """Repeat the arguments for the command that resumes."""
    return [
        f"--{name.replace('_', '-')}={getattr(arguments, name)}"
        for name in ("status_port", "status_host")
        if getattr(arguments, name) is not None
    ]


def tls_context(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    """Load the certificate. None without both files. CommandError if they cannot be used."""
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise usage_error("--tls-cert and --tls-key go together")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise usage_error(f"{certificate}, {key}: cannot be used: {error}") from None
    return context


def exposure(address: ListenAddress) -> str:
    """Return the warning about an address that other machines can reach, or an empty text."""
    if address.tls is not None or address.host in ("localhost", "::1") or address.host.startswith("127."):
        return ""
    if address.plaintext_tokens:
        return "--plaintext-tokens: tokens cross the network unencrypted; use --tls-cert and --tls-key"
    return (
        f"--listen {address.host}: tokens from other machines are refused without TLS: use --tls-cert and "
        f"--tls-key, or --plaintext-tokens"
    )


def listen_words(arguments: argparse.Namespace) -> list[str]:
    """Repeat the arguments for the command that resumes."""
    words = [
        f"--{name.replace('_', '-')}={getattr(arguments, name)}"
        for name in ("listen", "tls_cert", "tls_key")
        if getattr(arguments, name) is not None
    ]
    return [*words, "--plaintext-tokens"] if arguments.plaintext_tokens else words
