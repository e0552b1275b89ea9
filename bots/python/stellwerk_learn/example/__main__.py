"""`python -m stellwerk_learn.example`: train a policy, examine it, and draw its curve."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from stellwerk_bots.players import NAMES
from stellwerk_learn.example.curve import curve
from stellwerk_learn.example.train import Plan, Round, examine, train
from stellwerk_learn.house_env import HouseEnv


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    plan = Plan(
        opponent=chosen.opponent,
        rounds=chosen.rounds,
        games=chosen.games,
        seed=chosen.seed,
        jobs=chosen.jobs,
    )
    rounds: list[Round] = []

    def tell(each: Round) -> None:
        rounds.append(each)
        if each.number % 10 == 9 or each.number == plan.rounds - 1:
            last = rounds[-10:]
            won = sum(one.won for one in last) / len(last)
            margin = sum(one.margin for one in last) / len(last)
            print(f"{each.games} games: {100 * won:.0f} % won, {margin:+.0f} points ahead", flush=True)

    policy = train(plan, tell)
    chosen.to.parent.mkdir(parents=True, exist_ok=True)
    policy.save(chosen.to, HouseEnv(plan.game).table.game)
    print(f"the policy is in {chosen.to}")
    if chosen.curve is not None:
        chosen.curve.write_text(curve(plan, rounds), "utf-8")
        print(f"its curve is in {chosen.curve}")
    for opponent in chosen.against:
        print(f"against {opponent}: {examine(plan, policy, chosen.examined, opponent)}", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    usual = Plan()
    parser = argparse.ArgumentParser(
        prog="python -m stellwerk_learn.example",
        description="Train a small policy for the base game with two players.",
    )
    parser.add_argument(
        "--opponent", choices=NAMES, default=usual.opponent, help="to learn against, default: %(default)s"
    )
    parser.add_argument("--rounds", type=_count, default=usual.rounds, help="default: %(default)s")
    parser.add_argument(
        "--games", type=_count, default=usual.games, help="of each round, default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=usual.seed, help="default: %(default)s")
    parser.add_argument("--jobs", type=_count, default=usual.jobs, help="processes, default: %(default)s")
    parser.add_argument("--to", type=Path, default=Path("policy.npz"), help="default: %(default)s")
    parser.add_argument("--curve", type=Path, help="where to draw the learning curve, as SVG")
    parser.add_argument(
        "--examined",
        type=partial(_count, least=2),  # one has no interval
        default=1000,
        help="games of the examination, default: %(default)s",
    )
    parser.add_argument(
        "--against",
        nargs="+",
        choices=NAMES,
        default=["random"],
        metavar="BOT",
        help=f"bots of the examination, out of {', '.join(NAMES)}; default: random",
    )
    return parser


def _count(text: str, least: int = 1) -> int:
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"expected at least {least}, found {text}")
    return number


if __name__ == "__main__":
    sys.exit(main())
