"""The `tournament.toml` that `init` writes: everything that can be set, with its default and its meaning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from stellwerk_engine.games.shipped import RULE_SETS
from stellwerk_processes.bench.levels import DISK_MB, PROCESSES
from stellwerk_server.operate.settings import Time
from stellwerk_tournament.config.conduct import STANDARD
from stellwerk_tournament.config.settings import Kind

ROUNDS: Final = 10


def template(
    games: Sequence[str],
    bots: Sequence[str],
    kind: Kind = "round_robin",
    rounds: int = ROUNDS,
    title: str = "",
) -> str:
    """Return a commented file. `games` are ids, `bots` names of built-in ones."""
    time = Time()
    parts = [
        _HEAD.replace('# title = ""', f"title = {json.dumps(title)}" if title else '# title = ""'),
        schedule_text(kind, rounds),
        _CLOCKS.format(**{name: getattr(time, name) for name in time.__struct_fields__}),
        _CONDUCT.format(defaults=STANDARD.defaults, suspend_after=STANDARD.suspend_after),
    ]
    parts += [_game(game) for game in games]
    parts += [_BOTS, *(f"[[bots]]\nbuilt_in = {json.dumps(bot)}\n" for bot in bots)]
    return "\n".join(parts)


def schedule_text(kind: Kind, rounds: int) -> str:
    """Return the table of the schedule."""
    return _SCHEDULE.format(kind=f'"{kind}"'.ljust(22), rounds=str(rounds).ljust(20))


def _game(game: str) -> str:
    rules = RULE_SETS[game]
    players = ", ".join(map(str, rules.seat_counts))
    options = ", ".join(f'"{option.id}"' for option in rules.options)
    return f"""\
[[games]]                     # {rules.title}
game = "{game}"
players = {min(rules.seat_counts)}                   # {players}{_TEAMS if rules.team_size > 1 else ""}
# options = [{options}]
# board = "my_board.json"     # in place of the one that comes with the game
# weight = 1                  # how many deals of it a round has for each table
"""


_TEAMS = "; each bot plays all seats of a team"

_HEAD = """\
# A tournament of Stellwerk. Check it with:  stellwerk tournament run --dry-run FOLDER
# What is commented out is the default. Paths count from this folder.

# title = ""
# concurrency = -1            # matches at once; negative: as many as cores, less so many
# anonymous = false           # bots see their opponents as seat-0, seat-1, ...
# wrap = ""                   # in place of the sandbox: put before each bot's command. {directory} is the
#                             # bot's own folder, {folder} is this folder
# sandbox = "auto"            # the highest level that holds here, see 'stellwerk sandbox'; or "none",
#                             # "limits", "landlock", "namespace", "full". Below "landlock" bots can steal
#                             # tokens; "limits" is for bots that you trust
# require = "landlock"        # play nothing if only a level below this holds
# bind = ["data"]             # what else every bot may read, from "landlock" on
# network = false             # true: bots keep the network of this machine
# processes = {processes}             # most processes and threads of a bot
# disk_mb = {disk_mb}               # largest folder of a bot, or largest file below "namespace"
# memory_mb = 1024            # most data that a process of a bot may have; without it there is no limit
# freeze = false              # true: a bot is stopped while it is not asked, so that it cannot think on the
#                             # time of others
# cores_per_bot = 1           # physical cores that each bot has to itself; without it bots share the machine
# tokens = "tokens.txt"       # of remote bots, and of organizers who may watch: lines of 'stellwerk token'
# remote_wait_s = 60          # seconds for a remote bot to come (back); then its matches begin without it
""".replace("{processes}", str(PROCESSES)).replace("{disk_mb}", str(DISK_MB))

_SCHEDULE = """\
[schedule]
kind = {kind} # all meet all; "gauntlet": one against all; "swiss": those with equal scores;
                              # "random": everybody as often as everybody else
rounds = {rounds} # a round has a block for each table: one deal in every rotation of the seats
# until_width = 40            # or till all 95 % intervals are that narrow, in Elo; or what comes first
# hero = "my_bot"             # of a gauntlet; without it the first bot
"""

_CLOCKS = """\
[clocks]                      # see the protocol's description of time; in milliseconds
# set_up_ms = {set_up_ms}
# move_ms = {move_ms}
# bank_ms = {bank_ms}
# grace_ms = {grace_ms}
# strikes = {strikes}
# tries = {tries}
# defaults_in_a_row = {defaults_in_a_row}
# defaults = {defaults}
"""

_CONDUCT = """\
[conduct]                     # what a bot forfeits a match for: it ranks last in it, whatever its points
# never_started = true        # it exited, or did not log in, before the match began
# gone = true                 # it left, or its process or its connection ended during the match
# absent = true               # a remote bot was not connected when the match began
# defaults = {defaults}               # the server moved for it so often in one match; 0: however often
# suspend_after = {suspend_after}           # forfeits in a row; then it plays no more. 0: it always plays on
"""

_BOTS = """\
# [[bots]]
# name = "my_bot"             # up to 32 letters, digits, _ . -
# cmd = "python3 my_bot.py"   # or built_in = "greedy"
# dir = "my_bot"              # working directory; without it an empty one for each match
# folder = "my_bot"           # what it may read from "landlock" on; without it dir, or where its files are
# env = {{ THREADS = "1" }}
# transport = "tcp"           # or "stdio"
# author = "me"               # bots of one author are kept apart where that is possible
# instances = 2               # most processes of it at a time; of a remote bot, most matches
# process = "fresh"           # for each match; "reused": one plays match after match, but no deal twice;
#                             # "house", as built-in random, beginner and greedy play: none, in the server

# [[bots]]
# name = "their_bot"          # what it logs in with
# remote = true               # it connects to where 'run --listen' says; no two matches with it share a deal
# version = "2026-11"         # a label, for lines and the report
# token_sha256 = "..."        # of its token, from 'stellwerk token their_bot'; without it the file of tokens
#                             # with games of teams ["...", "..."]: it logs in to its two seats as their_bot.1
#                             # and their_bot.2, each with a token; their_bot.1 alone plays the other games
""".replace("{{", "{").replace("}}", "}")
