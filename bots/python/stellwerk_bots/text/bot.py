"""A player whose moves are the answers of a language model.

Law: what the model answers becomes a move only if the rules accept it. After `retries` more attempts the
fallback moves, and the record counts it. The state that checks a move is imagined from the view, so no check
can tell the model what its seat may not know.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from stellwerk_base.texts import shown
from stellwerk_bots.bot import Answer
from stellwerk_bots.imagined import dice_for, game_of, imagination_of
from stellwerk_bots.text.model import Model, ModelError
from stellwerk_bots.text.prompt import Moves, prompt_for, prompt_hash
from stellwerk_engine import engine
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.moves import Move

if TYPE_CHECKING:
    from stellwerk_bots import messages
    from stellwerk_bots.messages import Ask, Start

LONGEST: Final = 10_000  # characters of an answer that are read, from its end
NOTE: Final = 200  # characters of an answer that the replay keeps


class TextBot:
    """A factory of a bot's players, as the client library and `stellwerk.run_match` take it. `records` has
    each match has one by its id and seat."""

    def __init__(self, model: Model, *, name: str = "", moves: Moves = "shown", retries: int = 2) -> None:
        self.model = model
        self.name = name
        self.moves: Moves = moves
        self.retries = retries
        self.records: dict[tuple[str, int], dict[str, Any]] = {}  # Any: texts and numbers

    def __call__(self, start: Start, seed_text: str) -> TextPlayer:
        player = TextPlayer(self, start, seed_text)
        self.records[start["match"], start["seat"]] = player.record
        return player


class TextPlayer:
    """A player of one match. `record` is its result beside the points: how often the model was called, how
    many of its answers were illegal, how often it failed and the fallback moved. `prompt_hash` is that of the
    fixed words, `prompts_hash` that of all prompts of the match."""

    def __init__(self, bot: TextBot, start: Start, seed_text: str) -> None:
        self._bot = bot
        self._start = start
        self._game = game_of(start)
        self._seat: int = start["seat"]
        self._seed_text = seed_text
        self._prompts = sha256()
        self.record: dict[str, Any] = {  # Any: texts and numbers
            "model": bot.name,
            "moves": bot.moves,
            "retries": bot.retries,
            "prompt_hash": prompt_hash(bot.moves, bot.retries),
            "prompts_hash": "",
            "asks": 0,
            "calls": 0,
            "illegal": 0,
            "illegal_rate": 0.0,
            "failed": 0,
            "by_fallback": 0,
            "problem": "",
        }

    def answer(self, ask: Ask) -> Answer:
        self.record["asks"] += 1
        refused = ""
        for _ in range(1 + self._bot.retries):
            shows = self._bot.moves == "shown" or (self._bot.moves == "on_error" and bool(refused))
            prompt = prompt_for(self._game, self._start, ask, shows_moves=shows, refused=refused)
            try:
                text = self._call(prompt)
            except ModelError as error:
                self._count("failed", str(error))
                continue
            try:
                answer = self._checked(ask, text)
                answer["note"] = shown(text.strip(), NOTE)
                return answer
            except _IllegalError as illegal:
                refused = str(illegal)
                self._count("illegal", refused)
        self._count("by_fallback", "")
        return {"move": ask["fallback"], "note": "the fallback: the model gave no legal answer"}

    def _call(self, prompt: str) -> str:
        self._prompts.update(prompt.encode())
        self.record["prompts_hash"] = self._prompts.hexdigest()[:16]
        self.record["calls"] += 1
        self._count("", "")
        return self._bot.model(prompt)

    def _count(self, what: str, problem: str) -> None:
        if what:
            self.record[what] += 1
        self.record["problem"] = self.record["problem"] or shown(problem, NOTE)
        self.record["illegal_rate"] = round(self.record["illegal"] / max(1, self.record["calls"]), 4)

    def _checked(self, ask: Ask, text: str) -> Answer:
        """Return the answer in a text. _IllegalError if it has none, or one that the rules refuse."""
        found = last_object(text) or {}
        index, move = found.get("index"), found.get("move", found if "type" in found else None)
        if type(index) is int:
            if 0 <= index < len(ask["legal"]):
                return {"index": index}
            raise _IllegalError(f"there is no move {index}")
        if not isinstance(move, dict):
            raise _IllegalError('there is no {"index": N} and no {"move": {...}} in it')
        state = imagination_of(self._game, ask).deal(dice_for(self._seed_text, ask))
        try:
            engine.check(state, self._seat, msgspec.convert(move, Move))
        except msgspec.ValidationError as error:
            raise _IllegalError(str(error)) from None
        except IllegalMoveError as error:
            raise _IllegalError(f"{error.code} at {error.pointer}: expected {error.expected}") from None
        return {"move": cast("messages.Move", move)}


def last_object(text: str) -> dict[str, Any] | None:  # Any: JSON
    """Return the last JSON object in the end of a text that is not part of another one."""
    text = text[-LONGEST:]  # each attempt to read one can take time in proportion to what is before it
    decoder, found, start = json.JSONDecoder(), None, text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)
    return found


class _IllegalError(Exception):
    """An answer that is no legal move. The model gets the reason."""
