"""Language models: a command that reads a prompt and prints an answer, or an address that speaks as OpenAI's
do.

Law: a model that fails is a ModelError of one line, which never contains a key.
"""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, with the tokens that the model counted, if it did."""

    text: str
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


Model = Callable[[str], str | Reply]
"""Returns the answer to a prompt. ModelError if there is none."""

LONGEST_ANSWER: Final = 1_000_000  # bytes


class ModelError(Exception):
    """A model without an answer; one line says why."""


def command_model(command: Sequence[str], seconds: float) -> Model:
    """Return a model that is a command: it gets the prompt on standard input, and prints the answer."""

    def ask(prompt: str) -> str:
        try:
            done = subprocess.run(
                command, input=prompt.encode(), capture_output=True, check=False, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            raise ModelError(f"{command[0]}: no answer in {seconds:g} s") from None
        except OSError as error:
            raise ModelError(f"{command[0]}: {error.strerror or error}") from None
        if done.returncode != 0:
            last = (done.stderr.decode(errors="replace").strip().splitlines() or [""])[-1]
            raise ModelError(f"{command[0]}: exit status {done.returncode}: {last[:200]}")
        return done.stdout[:LONGEST_ANSWER].decode(errors="replace")

    return ask


def address_model(address: str, name: str, key: str, seconds: float) -> Model:
    """Return a model behind an address such as http://127.0.0.1:8000/v1: `POST ADDRESS/chat/completions`."""
    url = f"{address.rstrip('/')}/chat/completions"
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def ask(prompt: str) -> Reply:
        body = {"model": name, "messages": [{"role": "user", "content": prompt}]}
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=seconds) as response:
                answer = json.loads(response.read(LONGEST_ANSWER))
            content = answer["choices"][0]["message"]["content"]
        except urllib.error.HTTPError as error:
            error.close()
            raise ModelError(f"{url}: status {error.code}") from None
        except OSError as error:
            raise ModelError(f"{url}: {getattr(error, 'reason', error)}") from None
        except (ValueError, LookupError, TypeError):
            raise ModelError(f"{url}: the answer has no choices[0].message.content") from None
        if not isinstance(content, str):
            raise ModelError(f"{url}: the answer has no text")
        usage = answer.get("usage")
        return Reply(content, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))

    return ask


def _count(usage: object, name: str) -> int | None:
    """Return a number of tokens, if the model reports a plain one."""
    count = cast("dict[str, object]", usage).get(name) if isinstance(usage, dict) else None
    return count if type(count) is int else None
