"""`--cluster` and `--workers`: a tournament whose blocks are played by workers of Dask.

Dask is imported only if one of them is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator
from contextlib import contextmanager

from stellwerk.shared.errors import infrastructure_error, usage_error
from stellwerk.shared.terminal import complain
from stellwerk.shared.version import version
from stellwerk.tournament.table import PROGRAM
from stellwerk_tournament.blocks.cluster import (
    Cluster,
    ClusterError,
    Parts,
    expect_dask,
    is_exposed,
    open_cluster,
)
from stellwerk_tournament.store.cup import Cup


def has_cluster(arguments: argparse.Namespace) -> bool:
    return arguments.cluster is not None or arguments.workers is not None


def expect_cluster(arguments: argparse.Namespace) -> None:
    """Raise a CommandError if a cluster is asked for in a way that cannot be."""
    if not has_cluster(arguments):
        return
    name = "--workers" if arguments.cluster is None else "--cluster"
    if arguments.cluster is not None and arguments.workers is not None:
        raise usage_error("--workers: is for a cluster of this machine: give it or --cluster, not both")
    if arguments.concurrency is not None:
        raise usage_error(f"--concurrency: is for matches of this process; with {name} the workers say it")
    try:
        expect_dask()
    except ClusterError as error:
        raise usage_error(f"{name}: {error}") from None


def cluster_words(arguments: argparse.Namespace) -> list[str]:
    """Repeat the arguments for the command that resumes."""
    return [
        f"--{name}={getattr(arguments, name)}"
        for name in ("cluster", "workers")
        if getattr(arguments, name) is not None
    ]


@contextmanager
def cluster_of(
    arguments: argparse.Namespace, cup: Cup, tell: Callable[[str], object]
) -> Generator[Cluster | None]:
    """Connect to the cluster, if one is asked for. CommandError."""
    if not has_cluster(arguments):
        yield None
        return
    address: str | None = arguments.cluster
    if address is not None and is_exposed(address):
        complain(
            f"--cluster {address}: without TLS whoever reaches the scheduler or a worker can run programs "
            "there: use it in a private network only"
        )
    try:
        with open_cluster(address, arguments.workers or 0, cup, Parts(version, PROGRAM), tell) as cluster:
            yield cluster
    except ClusterError as error:
        raise infrastructure_error(str(error)) from None
