"""The orders of the runner to a supervisor, and the words that the two exchange.

The orders are one marshalled dictionary in a file in memory: they hold the bot's token, which must be in no
command line and in no environment but the bot's own. Both sides are the same Python.
"""

from __future__ import annotations

from typing import TypedDict


class Orders(TypedDict):
    """`folder` is the working directory. `private` is the bot's private folder if it only exists inside of
    namespaces: the supervisor gives it to the `user`, and shows it to the runner. Each limit holds as it is,
    soft and hard. `landlock` is the ruleset's attributes, its paths and its ports; `seccomp` a filter, and
    `sysinfo` what the supervisor answers to the call of that name. Inside of namespaces,
    `own_mounts` are the bot's alone, and it gets inodes of its own of all others; where the kernel cannot do
    that, the filter is `seccomp_without_locks`. `cgroups` are descriptors to join them by. `port`: where to
    listen inside, unless it is 0. `streams` are the descriptors of the bot's input and output: only the
    bot has those, so that the runner sees when it closes them."""

    argv: list[str]
    environment: dict[str, str]
    folder: str
    private: str
    user: int | None
    drops_capabilities: bool
    no_new_privileges: bool
    limits: list[tuple[int, int]]
    landlock: tuple[bytes, list[tuple[str, int]], list[tuple[int, int]]] | None
    seccomp: bytes
    sysinfo: bytes
    seccomp_without_locks: bytes
    own_mounts: list[str]
    forbids_namespaces: bool
    cgroups: list[int]
    port: int
    streams: list[int]
