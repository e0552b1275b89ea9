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
    notes = [_wrap(board.provenance, first="    ", others="  ") for board in boards]
    described = [line for row, note in zip(lines[1:], notes, strict=True) for line in (row, note)]
    return "\n".join([lines[0], *described]) + "\n"


def summary(board: BoardFile) -> str:
    """Write everything that matters about one board."""
    sections = [_summarize(board)]
    if board.routes:
        sections += [_tabulate_routes(board), *_list_special_routes(board)]
    sections.append(_list_tickets(board))
    if board.big_cities:
        bonuses = [f"{points:>3}   {_name_of(board, city)}" for city, points in board.big_cities.items()]
        sections.append(_write_section("Big cities", bonuses))
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


def _summarize(board: BoardFile) -> str:
    deck = len(COLORS) * board.cards_each_color + board.locomotives
    cards = f"{deck}: {board.cards_each_color} of each color, {counted(board.locomotives, 'locomotive')}"
    rows = [("Holds", in_numbers(board)), *_describe_cities(board), ("Cards", cards)]
    if board.routes:
        rows.append(("Trains", f"{board.trains} for each player"))
    rows += [
        ("Doubtful", ", ".join(doubts(board)) or "nothing is marked as doubtful"),
        ("Source", board.provenance),
        ("Digest", board.digest),
    ]
    lines = [_wrap(text, first=f"{label:<11}", others=" " * 11) for label, text in rows]
    return _write_section(f"{board.id}: {board.title}", lines)


def _describe_cities(board: BoardFile) -> Iterator[tuple[str, str]]:
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
                f"{_name_of(board, name)} is {' or '.join(_name_of(board, city) for city in cities)}"
                for name, cities in board.city_groups.items()
            ),
        )


def _tabulate_routes(board: BoardFile) -> str:
    """Count the routes of each length and color."""
    number_of = Counter((route.length, route.color) for route in board.routes)
    lengths = sorted({route.length for route in board.routes})
    colors = (GRAY, *COLORS)
    rows: list[Sequence[str]] = [("length", "points", *colors, "all")]
    for length in lengths:
        numbers = [number_of[length, color] for color in colors]
        rows.append((str(length), str(board.route_points[length]), *_with_sum(numbers)))
    rows.append(
        ("all", "", *_with_sum([sum(number_of[length, color] for length in lengths) for color in colors]))
    )
    spaces = sum(route.length for route in board.routes)
    return _write_section(f"Routes ({counted(spaces, 'space')} in all)", list(aligned(rows, gap=1)))


def _with_sum(numbers: Sequence[int]) -> list[str]:
    return [str(number) if number else "." for number in (*numbers, sum(numbers))]


def _list_special_routes(board: BoardFile) -> Iterator[str]:
    """List the routes about which there is more to say than length and color."""
    bundles: dict[frozenset[str], list[Route]] = {}
    for route in board.routes:
        if route.parallel > 1:
            bundles.setdefault(frozenset((route.a, route.b)), []).append(route)
    for size, kind in ((2, "Double"), (3, "Triple")):
        tracks = [bundle[0] for bundle in bundles.values() if len(bundle) == size]
        if tracks:
            yield _write_section(
                f"{kind} routes ({len(tracks)})",
                [_ends_of(board, track) + (", always open" if track.always_open else "") for track in tracks],
            )
    routes = board.routes
    ferries = [
        (route, f", {counted(route.locomotives, 'locomotive')}") for route in routes if route.locomotives
    ]
    tunnels = [(route, f", {counted(route.tunnel, 'card')} revealed") for route in routes if route.tunnel]
    doubtful = [(route, "") for route in routes if route.doubtful]
    for kind, noted in (("Ferries", ferries), ("Tunnels", tunnels), ("Doubtful lengths", doubtful)):
        if noted:
            lines = [_describe_route(board, route) + note for route, note in noted]
            yield _write_section(f"{kind} ({len(noted)})", lines)


def _list_tickets(board: BoardFile) -> str:
    points = sum(ticket.points for ticket in board.tickets)
    note = "; a ? marks a reconstructed one" if any(ticket.doubtful for ticket in board.tickets) else ""
    lines = [_wrap(_describe_ticket(board, ticket), others=" " * 6) for ticket in board.tickets]
    return _write_section(f"Tickets ({counted(points, 'point')} in all{note})", lines)


def _describe_ticket(board: BoardFile, ticket: Ticket) -> str:
    cards = ", ".join(f"{count} {color}" for color, count in ticket.cards.items())
    mark = "?" if ticket.doubtful else " "
    ends = f"{_name_of(board, ticket.a)} - {_name_of(board, ticket.b)}"
    kind = " (long)" if ticket.long else ""
    return f"{ticket.points:>3}{mark}  {ends}{kind}{': ' if cards else ''}{cards}"


def _describe_route(board: BoardFile, route: Route) -> str:
    return f"{_ends_of(board, route)}: {route.length}{'?' if route.doubtful else ''} {route.color}"


def _ends_of(board: BoardFile, route: Route) -> str:
    return f"{_name_of(board, route.a)} - {_name_of(board, route.b)}"


def _name_of(board: BoardFile, place: str) -> str:
    """Return the name of a city, or of a group of cities."""
    names = [city.name for city in board.cities if city.id == place]
    return names[0] if names else place.replace("_", " ").title()


def _write_section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)]) + "\n"


def _wrap(text: str, *, first: str = "", others: str) -> str:
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
