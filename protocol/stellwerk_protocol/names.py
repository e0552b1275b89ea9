"""The words on the wire and their bounds.

The type of every number and every text that a peer may send has bounds, so that the code behind the decoder
meets only values that it was built for. Names are the ids of the board file; list positions are never
identifiers. A `title` is the type's name in the schemas.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta

END: Final = r"$(?!\n)"  # the end of a pattern: in Python `$` alone lets a newline follow

Color = Literal["purple", "blue", "orange", "white", "green", "yellow", "black", "red", "locomotive"]
Place = Literal["hand", "holder"]
Viewer = Literal["seat", "public", "all_hands"]
EndReason = Literal["trains", "pile", "all_passed", "idle"]

COLORS: Final[tuple[Color, ...]] = (
    "purple",
    "blue",
    "orange",
    "white",
    "green",
    "yellow",
    "black",
    "red",
    "locomotive",
)

MAX_SEATS: Final = 6
MAX_CARDS_OF_A_COLOR: Final = 60  # the board loader's bound; nine such counts fit one small int

Seat = Annotated[int, Meta(title="Seat", ge=0, lt=MAX_SEATS)]
Team = Annotated[int, Meta(title="Team", ge=0, lt=MAX_SEATS)]
Count = Annotated[int, Meta(title="Count", ge=0, le=1_000_000)]
Points = Annotated[int, Meta(title="Points", ge=-1_000_000, le=1_000_000)]
Rank = Annotated[int, Meta(title="Rank", ge=1, le=MAX_SEATS)]
CardCount = Annotated[int, Meta(title="CardCount", ge=1, le=MAX_CARDS_OF_A_COLOR)]

GameName = Annotated[
    str, Meta(title="GameName", min_length=1, max_length=32, pattern=r"^[a-z0-9][a-z0-9_]*" + END)
]
CityName = Annotated[
    str, Meta(title="CityName", min_length=1, max_length=32, pattern=r"^[a-z0-9][a-z0-9_]*" + END)
]
RegionName = Annotated[
    str, Meta(title="RegionName", min_length=1, max_length=32, pattern=r"^[a-z0-9][a-z0-9_]*" + END)
]
RouteName = Annotated[
    str, Meta(title="RouteName", min_length=1, max_length=72, pattern=r"^[a-z0-9][a-z0-9_-]*" + END)
]
TicketName = Annotated[
    str, Meta(title="TicketName", min_length=1, max_length=72, pattern=r"^[a-z0-9][a-z0-9_-]*" + END)
]
TechnologyName = Annotated[
    str, Meta(title="TechnologyName", min_length=1, max_length=32, pattern=r"^[a-z0-9][a-z0-9_]*" + END)
]
BonusName = Annotated[
    str, Meta(title="BonusName", min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9_:]*" + END)
]
OptionName = Annotated[str, Meta(title="OptionName", max_length=32, pattern=r"^[a-z0-9][a-z0-9_]*" + END)]
PLAYER_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}"  # in command lines and files
PLAYER_NAME_IN_WORDS: Final = "1 to 32 of A-Z a-z 0-9 _ . -, the first a letter or digit"
PlayerName = Annotated[
    str, Meta(title="PlayerName", max_length=32, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*" + END)
]
Digits64 = Annotated[str, Meta(title="Digits", pattern=r"^[0-9a-f]{64}" + END)]  # 256 bits
CityNames = Annotated[tuple[CityName, ...], Meta(max_length=128)]
TicketNames = Annotated[tuple[TicketName, ...], Meta(max_length=128)]
RouteNames = Annotated[tuple[RouteName, ...], Meta(max_length=256)]
Seats = Annotated[tuple[Seat, ...], Meta(max_length=MAX_SEATS)]
