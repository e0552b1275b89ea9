"""Where a tournament listens, on the command line: for remote bots, for readers of its status page, and for
browsers."""

from __future__ import annotations

import argparse
import ssl

from stellwerk.shared.addresses import LISTEN, PAGES, listen_address
from stellwerk.shared.errors import usage_error
from stellwerk.shared.parser import argument
from stellwerk_server.net.listen_address import ListenAddress


def add_listen_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("remote bots")
    argument(group, f"--listen {LISTEN}", "where they connect to; port 0 takes any free port")
    argument(group, "--tls-cert FILE", "certificate chain in PEM")
    argument(group, "--tls-key FILE", "its key in PEM")
    argument(group, "--plaintext-tokens", "accept tokens without TLS from other machines", default=None)
    group = parser.add_argument_group("for people who watch")
    argument(group, f"--status {LISTEN}", "serve the state as JSON over HTTP there")
    argument(group, f"--web {PAGES}", "show the matches to browsers there, under these names")


def listen_address_of(arguments: argparse.Namespace) -> ListenAddress | None:
    """Read where remote bots connect to. None without `--listen`. CommandError if the arguments are wrong."""
    if arguments.listen is None:
        for name in ("tls_cert", "tls_key", "plaintext_tokens"):
            if getattr(arguments, name) is not None:
                raise usage_error(f"--{name.replace('_', '-')}: goes with --listen only")
        return None
    host, port = listen_address("--listen", arguments.listen)
    tls = tls_context(arguments.tls_cert, arguments.tls_key)
    return ListenAddress(host, port, tls, bool(arguments.plaintext_tokens))


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
