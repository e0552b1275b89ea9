"""`--workers`: a tournament whose blocks are played by workers of Dask, which is imported only then."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator
from contextlib import contextmanager

from stellwerk.shared.errors import infrastructure_error, refusing, usage_error
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


def expect_cluster(arguments: argparse.Namespace) -> None:
    """Raise a CommandError if workers are asked for in a way that cannot be."""
    if arguments.workers is None:
        return
    if arguments.concurrency is not None:
        raise usage_error("--concurrency: is for matches of this process; with --workers the workers say it")
    with refusing(ClusterError, where="--workers"):
        expect_dask()


@contextmanager
def cluster_of(
    workers: int | str | None, cup: Cup, tell: Callable[[str], object]
) -> Generator[Cluster | None]:
    """Connect to the workers, if some are asked for. CommandError."""
    if workers is None:
        yield None
        return
    address, count = (workers, 0) if isinstance(workers, str) else (None, workers)
    if address is not None and is_exposed(address):
        complain(
            f"--workers {address}: without TLS whoever reaches the scheduler or a worker can run programs "
            "there: use it in a private network only"
        )
    try:
        with open_cluster(address, count, cup, Parts(version, PROGRAM), tell) as cluster:
            yield cluster
    except ClusterError as error:
        raise infrastructure_error(str(error)) from None
