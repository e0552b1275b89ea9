"""The address at which remote bots come in, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where remote bots come in. Those of other machines need TLS, unless plaintext tokens are accepted."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    plaintext_tokens: bool = False


class CannotListenError(Exception):
    """The server cannot listen; one line says where and why."""


def shown_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
