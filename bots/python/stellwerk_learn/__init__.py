"""Games as environments for learning programs: of PettingZoo with all seats as agents, of Gymnasium with bots
in the other seats. The extra `learn` installs what they need; a trained policy plays without it (`bot.py`,
`policy.py`).

May import: `stellwerk_protocol`, `stellwerk_engine`, `stellwerk_bots`, and of `stellwerk_server` what writes
messages.

Law: an observation is made of the view that the engine gives to a seat, and of nothing else. Importing the
package registers its environments by name, as Gymnasium and PettingZoo expect it: `stellwerk/usa-v0` and so
on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stellwerk_engine.games.shipped import RULE_SETS

if TYPE_CHECKING:
    from stellwerk_learn.aec_env import SeatsEnv
    from stellwerk_learn.house_env import HouseEnv
    from stellwerk_learn.stages import IllegalActionError

__all__ = ["HouseEnv", "IllegalActionError", "SeatsEnv"]


def __getattr__(name: str) -> object:
    """Import a public name when it is used for the first time."""
    try:
        match name:
            case "SeatsEnv":
                from stellwerk_learn.aec_env import SeatsEnv

                return SeatsEnv
            case "HouseEnv":
                from stellwerk_learn.house_env import HouseEnv

                return HouseEnv
            case "IllegalActionError":
                from stellwerk_learn.stages import IllegalActionError

                return IllegalActionError
            case _:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"stellwerk_learn.{name} needs {error.name}, which is not installed: "
            "pip install 'stellwerk[learn]'"
        ) from None


def _register() -> None:
    """Register the environments by name, if there is anything that could make them."""
    try:
        import gymnasium
        import pettingzoo  # pyright: ignore[reportMissingTypeStubs]  it has types, but no py.typed
    except ModuleNotFoundError:
        return
    for game in RULE_SETS:
        gymnasium.register(  # pyright: ignore[reportUnknownMemberType]  its dict of arguments has no types
            f"stellwerk/{game}-v0", "stellwerk_learn.house_env:HouseEnv", kwargs={"game": game}
        )
        pettingzoo.register(
            "aec", f"stellwerk/{game}_v0", "stellwerk_learn.aec_env:SeatsEnv", kwargs={"game": game}
        )


_register()
