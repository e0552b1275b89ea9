"""The content of a board, as plain text for a terminal of 80 columns.

Law: each uncertain fact is marked at its place, and the source of the facts is always shown.
"""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from stellwerk_base.texts import aligned, counted
from stellwerk_engine.boards.board_file import COLORS, GRAY, BoardFile, Route, Ticket

WIDTH: Final = 80  # columns of a terminal as it opens


def listing(boards: Sequence[BoardFile]) -> str:
    """Write one row for each board, and below it how far it can be trusted."""
    header = ("id", "title", "cities", "routes", "tickets", "marked doubtful")
    rows = [
        (board.id, board.title, *(str(count) for count in counts(board)), ", ".join(doubts(board)) or "-")
        for board in boards
    ]
    lines = list(aligned([header, *rows], left={0, 1, 5}))
    notes = [_wrapped(board.provenance, first="    ", others="  ") for board in boards]
    described = [line for row, note in zip(lines[1:], notes, strict=True) for line in (row, note)]
    return "\n".join([lines[0], *described]) + "\n"


def summary(board: BoardFile) -> str:
    """Write everything that matters about one board."""
    sections = [_head(board)]
    if board.routes:
        sections += [_route_table(board), *_special_routes(board)]
    sections.append(_tickets(board))
    if board.big_cities:
        sections.append(_big_cities(board))
    return "\n".join(sections)


def in_numbers(board: BoardFile) -> str:
    """Write `36 cities, 100 routes, 30 tickets`."""
    cities, routes, tickets = counts(board)
    parts = [counted(cities, "city", "cities"), counted(tickets, "ticket")]
    if routes:
        parts.insert(1, counted(routes, "route"))
    return ", ".join(parts)


def counts(board: BoardFile) -> tuple[int, int, int]:
    return len(board.cities), len(board.routes), len(board.tickets)


def doubts(board: BoardFile) -> list[str]:
    """List what the file itself marks as doubtful."""
    lengths = sum(route.doubtful for route in board.routes)
    tickets = sum(ticket.doubtful for ticket in board.tickets)
    return [
        *([counted(lengths, "length")] if lengths else []),
        *([counted(tickets, "ticket")] if tickets else []),
    ]


def _head(board: BoardFile) -> str:
    deck = len(COLORS) * board.cards_each_color + board.locomotives
    cards = f"{deck}: {board.cards_each_color} of each color, {counted(board.locomotives, 'locomotive')}"
    rows = [("Holds", in_numbers(board)), *_about_cities(board), ("Cards", cards)]
    if board.routes:
        rows.append(("Trains", f"{board.trains} for each player"))
    rows += [
        ("Doubtful", ", ".join(doubts(board)) or "nothing is marked as doubtful"),
        ("Source", board.provenance),
        ("Digest", board.digest),
    ]
    lines = [_wrapped(text, first=f"{label:<11}", others=" " * 11) for label, text in rows]
    return _section(f"{board.id}: {board.title}", lines)


def _about_cities(board: BoardFile) -> Iterator[tuple[str, str]]:
    junctions = sum(city.junction for city in board.cities)
    if junctions:
        yield "Junctions", f"{junctions} of the cities, on no ticket"
    regions = Counter(city.region for city in board.cities if city.region is not None)
    if regions:
        yield "Regions", ", ".join(f"{region} {number}" for region, number in sorted(regions.items()))
    if board.city_groups:
        yield (
            "Groups",
            "; ".join(
                f"{_place(board, name)} is {' or '.join(_place(board, city) for city in cities)}"
                for name, cities in board.city_groups.items()
            ),
        )


def _route_table(board: BoardFile) -> str:
    """Count the routes of each length and color."""
    number_of = Counter((route.length, route.color) for route in board.routes)
    lengths = sorted({route.length for route in board.routes})
    colors = (GRAY, *COLORS)
    rows: list[Sequence[str]] = [("length", "points", *colors, "all")]
    for length in lengths:
        numbers = [number_of[length, color] for color in colors]
        rows.append((str(length), str(board.route_points[length]), *_cells(numbers)))
    rows.append(
        ("all", "", *_cells([sum(number_of[length, color] for length in lengths) for color in colors]))
    )
    spaces = sum(route.length for route in board.routes)
    return _section(f"Routes ({counted(spaces, 'space')} in all)", list(aligned(rows, gap=1)))


def _cells(numbers: Sequence[int]) -> list[str]:
    return [str(number) if number else "." for number in (*numbers, sum(numbers))]


def _special_routes(board: BoardFile) -> Iterator[str]:
    """List the routes about which there is more to say than length and color."""
    bundles: dict[frozenset[str], list[Route]] = {}
    for route in board.routes:
        if route.parallel > 1:
            bundles.setdefault(frozenset((route.a, route.b)), []).append(route)
    for size, kind in ((2, "Double"), (3, "Triple")):
        tracks = [bundle[0] for bundle in bundles.values() if len(bundle) == size]
        if tracks:
            yield _section(
                f"{kind} routes ({len(tracks)})",
                [_ends(board, track) + (", always open" if track.always_open else "") for track in tracks],
            )
    ferries = [route for route in board.routes if route.locomotives]
    if ferries:
        yield _section(
            f"Ferries ({len(ferries)})",
            [f"{_described(board, route)}, {counted(route.locomotives, 'locomotive')}" for route in ferries],
        )
    tunnels = [route for route in board.routes if route.tunnel]
    if tunnels:
        yield _section(
            f"Tunnels ({len(tunnels)})",
            [f"{_described(board, route)}, {counted(route.tunnel, 'card')} revealed" for route in tunnels],
        )
    doubtful = [route for route in board.routes if route.doubtful]
    if doubtful:
        yield _section(
            f"Doubtful lengths ({len(doubtful)})", [_described(board, route) for route in doubtful]
        )


def _tickets(board: BoardFile) -> str:
    points = sum(ticket.points for ticket in board.tickets)
    note = "; a ? marks a reconstructed one" if any(ticket.doubtful for ticket in board.tickets) else ""
    lines = [_wrapped(_ticket(board, ticket), others=" " * 6) for ticket in board.tickets]
    return _section(f"Tickets ({counted(points, 'point')} in all{note})", lines)


def _ticket(board: BoardFile, ticket: Ticket) -> str:
    cards = ", ".join(f"{count} {color}" for color, count in ticket.cards.items())
    mark = "?" if ticket.doubtful else " "
    ends = f"{_place(board, ticket.a)} - {_place(board, ticket.b)}"
    kind = " (long)" if ticket.long else ""
    return f"{ticket.points:>3}{mark}  {ends}{kind}{': ' if cards else ''}{cards}"


def _big_cities(board: BoardFile) -> str:
    bonuses = [f"{points:>3}   {_place(board, city)}" for city, points in board.big_cities.items()]
    return _section("Big cities", bonuses)


def _described(board: BoardFile, route: Route) -> str:
    return f"{_ends(board, route)}: {route.length}{'?' if route.doubtful else ''} {route.color}"


def _ends(board: BoardFile, route: Route) -> str:
    return f"{_place(board, route.a)} - {_place(board, route.b)}"


def _place(board: BoardFile, place: str) -> str:
    """Return the name of a city, or of a group of cities."""
    names = [city.name for city in board.cities if city.id == place]
    return names[0] if names else place.replace("_", " ").title()


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)]) + "\n"


def _wrapped(text: str, *, first: str = "", others: str) -> str:
    """Break the text into lines that leave room for a section's indent."""
    return "\n".join(
        textwrap.wrap(
            text,
            WIDTH - 2,
            initial_indent=first,
            subsequent_indent=f"  {others}",
            drop_whitespace=True,
            break_on_hyphens=False,
        )
    )
