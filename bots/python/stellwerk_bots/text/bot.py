"""A player whose moves are the answers of a language model.

Law: what the model answers becomes a move only if the rules accept it. After `retries` more attempts the
fallback moves, and the record counts it. The state that checks a move is imagined from the view, so no check
can tell the model what its seat may not know.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from hashlib import sha256
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stellwerk_base.texts import shown
from stellwerk_bots.bot import Answer
from stellwerk_bots.imagined import dice_for, game_of, imagination_of
from stellwerk_bots.text.answers import UnreadableError, read_answer
from stellwerk_bots.text.model import Model, ModelError, Reply
from stellwerk_bots.text.position import Memory, Moves, Position
from stellwerk_bots.text.prompt import write_prompt
from stellwerk_bots.text.transcript import Call, Outcome, Transcript
from stellwerk_engine import engine
from stellwerk_engine.core.state import Game
from stellwerk_engine.core.words import Words
from stellwerk_engine.games.rules_in_words import rules_in_words
from stellwerk_protocol.errors import IllegalMoveError
from stellwerk_protocol.events import Event
from stellwerk_protocol.moves import Move

if TYPE_CHECKING:
    from stellwerk_bots.messages import Ask, EventMessage, Start

NOTE: Final = 200  # characters of an answer that the replay keeps

Write = Callable[[Position, Memory], str]
"""Writes the prompt for a position."""
Read = Callable[[str, Position, Memory], Answer]
"""Reads the model's answer: {"index": N} or {"move": {...}}. UnreadableError if it has none."""


class TextBot:
    """A factory of a bot's players, as the client library and `stellwerk.run_match` take it.

    `write` and `read` may be an author's own functions. Both get a memory, a dictionary of the match.
    `records` has the record of each match by its id and seat.
    """

    def __init__(
        self,
        model: Model,
        *,
        name: str = "",
        moves: Moves = "shown",
        retries: int = 2,
        takes_numbers: bool = False,
        write: Write = write_prompt,
        read: Read = read_answer,
        transcript: Transcript | None = None,
    ) -> None:
        self.model = model
        self.name = name
        self.moves: Moves = moves
        self.retries = retries
        self.takes_numbers = takes_numbers
        self.write = write
        self.read = read
        self.transcript = transcript
        self.records: dict[tuple[str, int], dict[str, Any]] = {}  # Any: texts and numbers

    def __call__(self, start: Start, seed_text: str) -> TextPlayer:
        player = TextPlayer(self, start, seed_text)
        self.records[start["match"], start["seat"]] = player.record
        return player


class TextPlayer:
    """A player of one match.

    `record` is its result beside the points: how often the model was called, how many of its answers were
    unparsable, named no listed move or were refused by the rules, how often it failed and the fallback moved.
    `prompt_hash` is that of the code that writes and reads, of the rules and of the settings, `prompts_hash`
    that of all prompts of the match.
    """

    def __init__(self, bot: TextBot, start: Start, seed_text: str) -> None:
        self._bot = bot
        self._start = start
        self._game = game_of(start)
        self._words = Words(self._game.board)
        self._seat: int = start["seat"]
        self._seed_text = seed_text
        self._prompts = sha256()
        self._memory: Memory = {}
        self._turn = 0  # of the last ask
        self._news: list[str] = []
        self._old_news = 0  # of these, before the last answer
        self.record: dict[str, Any] = {  # Any: texts and numbers
            "model": bot.name,
            "moves": bot.moves,
            "retries": bot.retries,
            "prompt_hash": _hash_of(bot, self._game),
            "prompts_hash": "",
            "asks": 0,
            "calls": 0,
            "unparsable": 0,
            "bad_index": 0,
            "refused": 0,
            "illegal_rate": 0.0,
            "failed": 0,
            "by_fallback": 0,
            "model_ms": 0.0,
            "prompt_tokens": 0,
            "answer_tokens": 0,
            "problem": "",
        }

    def event(self, message: EventMessage) -> None:
        """Note what happened, in the words of the part whose event it is."""
        event: Event = msgspec.convert(message["event"], Event)
        owner = self._game.owners.get(type(event))
        if owner is None and message["event"]["type"] != "passed":
            return
        sentence = "passes" if owner is None else owner.sentence(event, self._words)
        seat = message["event"].get("seat")
        who = "" if seat is None else f"Seat {seat} (you) " if seat == self._seat else f"Seat {seat} "
        if self._news and who and self._news[-1].startswith(who) and len(self._news) > self._old_news:
            self._news[-1] += f", {sentence}"
        else:
            self._news.append(who + sentence)

    def answer(self, ask: Ask) -> Answer:
        self.record["asks"] += 1
        if ask["view"]["turn"] != self._turn:
            self._turn = ask["view"]["turn"]
            del self._news[: self._old_news]
        answer = self._ask_model(ask)
        self._old_news = len(self._news)
        return answer

    def _ask_model(self, ask: Ask) -> Answer:
        """Call the model until the rules accept its answer, or it had all its attempts."""
        refused = ""
        state = imagination_of(self._game, ask).deal(dice_for(self._seed_text, ask))
        for attempt in range(1, 2 + self._bot.retries):
            shows = self._bot.moves == "shown" or (self._bot.moves == "on_error" and bool(refused))
            position = Position(
                self._game,
                self._start,
                ask,
                state,
                tuple(self._news),
                shows_moves=shows,
                takes_numbers=self._bot.takes_numbers,
                refused=refused,
            )
            prompt = self._bot.write(position, self._memory)
            reply, ms = Reply(""), 0.0
            began = perf_counter()
            try:
                reply = self._call(prompt)
                ms = 1000 * (perf_counter() - began)
                answer = self._bot.read(reply.text, position, self._memory)
                self._check(position, answer)
            except ModelError as error:
                self._note(ask, attempt, prompt, reply, "failed", str(error), 1000 * (perf_counter() - began))
            except UnreadableError as error:
                refused = str(error)
                self._note(ask, attempt, prompt, reply, "unparsable", refused, ms)
            except _IllegalError as error:
                refused = str(error)
                self._note(ask, attempt, prompt, reply, error.outcome, refused, ms)
            else:
                self._note(ask, attempt, prompt, reply, "played", "", ms)
                answer["note"] = shown(reply.text.strip(), NOTE)
                return answer
        self.record["by_fallback"] += 1
        return {"move": ask["fallback"], "note": "the fallback: the model gave no legal answer"}

    def _call(self, prompt: str) -> Reply:
        self._prompts.update(prompt.encode())
        self.record["prompts_hash"] = self._prompts.hexdigest()[:16]
        reply = self._bot.model(prompt)
        return Reply(reply) if isinstance(reply, str) else reply

    def _note(
        self,
        ask: Ask,
        attempt: int,
        prompt: str,
        reply: Reply,
        outcome: Outcome,
        problem: str,
        ms: float,
    ) -> None:
        """Count a call, and write it into the transcript."""
        record = self.record
        record["calls"] += 1
        if outcome != "played":
            record[outcome] += 1
        illegal = record["unparsable"] + record["bad_index"] + record["refused"]
        record["illegal_rate"] = round(illegal / record["calls"], 4)
        record["model_ms"] = round(record["model_ms"] + ms, 3)
        record["prompt_tokens"] += reply.prompt_tokens or 0
        record["answer_tokens"] += reply.answer_tokens or 0
        record["problem"] = record["problem"] or shown(problem, NOTE)
        if self._bot.transcript is not None:
            call = Call(
                model=self._bot.name,
                match=ask["match"],
                seat=self._seat,
                turn=ask["view"]["turn"],
                ask=ask["ask"],
                attempt=attempt,
                outcome=outcome,
                problem=problem,
                prompt=prompt,
                answer=reply.text,
                ms=round(ms, 3),
                prompt_tokens=reply.prompt_tokens,
                answer_tokens=reply.answer_tokens,
            )
            self._bot.transcript.add(call)

    def _check(self, position: Position, answer: Answer) -> None:
        """Raise _IllegalError if the list has no such index, or the rules refuse the move."""
        if "index" in answer:
            index, listed = answer["index"], len(position.legal)
            if not 0 <= index < listed:
                raise _IllegalError("bad_index", f"there is no move {index}; the last one is {listed - 1}")
            return
        try:
            engine.check(position.state, self._seat, msgspec.convert(answer["move"], Move))
        except msgspec.ValidationError as error:
            raise _IllegalError("refused", str(error)) from None
        except IllegalMoveError as error:
            text = f"{error.code} at {error.pointer}: expected {error.expected}"
            raise _IllegalError("refused", text) from None


class _IllegalError(Exception):
    """An answer that is no legal move. The model gets the reason."""

    def __init__(self, outcome: Outcome, text: str) -> None:
        super().__init__(text)
        self.outcome: Outcome = outcome


def _hash_of(bot: TextBot, game: Game) -> str:
    """Return the hash of all that makes prompts what they are, by which results can be compared."""
    settings = [bot.moves, bot.retries, bot.takes_numbers, rules_in_words(game)]
    words = json.dumps([_source_of(bot.write), _source_of(bot.read), *settings])
    return sha256(words.encode()).hexdigest()[:16]


def _source_of(function: Callable[..., object]) -> str:
    """Return the text of the module that a function comes from, or its name where there is no text."""
    try:
        module = inspect.getmodule(function)
        return inspect.getsource(function if module is None else module)
    except (OSError, TypeError):
        return getattr(function, "__qualname__", type(function).__qualname__)
