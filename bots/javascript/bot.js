#!/usr/bin/env node
// `node bot.js NAME`: the command that runs one of the bots on a Stellwerk server. With --game it joins a match.
// Without it, it plays wherever the server seats it; a server starts bots that way. Exit codes: 0 played, 1 refused, 2
// usage, 4 no server, 130 interrupted.

import { Console } from "node:console";
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";

import { Client, ClientError, EXIT } from "./src/client.js";
import { STDIO } from "./src/connection.js";
import { PLAYERS } from "./src/players.js";
import { answerVectors } from "./src/vectors.js";

/** @import { Join } from "./src/protocol.js" */

const USAGE = `usage: node bot.js NAME [--address tcp://127.0.0.1:7878] [--name N] [--token T]
                [--game G --players N --option X --against a,b,c --seed S --room R --seat K]
       node bot.js vectors FILE

NAME is ${[...PLAYERS.keys()].join(" or ")}. --option may be repeated. An address is tcp://HOST:PORT,
tls://HOST:PORT or ${STDIO}. Defaults come from STELLWERK_ADDRESS, STELLWERK_NAME, STELLWERK_TOKEN; what the bot
leaves to chance follows from STELLWERK_BOT_SEED.`;

class UsageError extends Error {}

/** @param {string[]} words */
async function main(words) {
  const { values, positionals } = parsed(words);
  const [name = "", ...rest] = positionals;
  if (values.help) {
    return console.log(USAGE);
  }
  if (name === "vectors" && rest.length === 1) {
    return vectors(rest[0] ?? "");
  }
  const newPlayer = PLAYERS.get(name);
  if (!newPlayer || rest.length > 0) {
    throw new UsageError(`not a bot: ${positionals.join(" ")}`);
  }
  const { env } = process;
  const address = values.address ?? env.STELLWERK_ADDRESS ?? "tcp://127.0.0.1:7878";
  if (address === STDIO) {
    globalThis.console = new Console(process.stderr); // the output of a player must not mix with the messages
  }
  const client = new Client({
    address,
    name: values.name ?? env.STELLWERK_NAME ?? `${name}-${randomBytes(3).toString("hex")}`,
    newPlayer,
    seed: env.STELLWERK_BOT_SEED ?? randomBytes(16).toString("hex"),
    token: values.token ?? env.STELLWERK_TOKEN,
    wish: wish(values),
    print: (text) => console.log(printable(text)),
    log: (text) => console.error(printable(text)),
  });
  await client.run();
}

/** @param {string[]} args */
function parsed(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        address: { type: "string" },
        name: { type: "string" },
        token: { type: "string" },
        game: { type: "string" },
        players: { type: "string" },
        option: { type: "string", multiple: true },
        against: { type: "string" },
        seed: { type: "string" },
        room: { type: "string" },
        seat: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/**
 * @param {ReturnType<typeof parsed>["values"]} values
 * @returns {Join | undefined}
 */
function wish({ game, players, option, against, seed, room, seat }) {
  const others = against?.split(",").filter((name) => name !== "");
  if (game === undefined) {
    return undefined;
  }
  return {
    type: "join",
    game,
    players: players !== undefined ? whole(players) : others ? others.length + 1 : 2,
    ...(option && { options: option }),
    ...(others && { against: others }),
    ...(seed !== undefined && { seed }),
    ...(room !== undefined && { room }),
    ...(seat !== undefined && { seat: whole(seat) }),
  };
}

/** @param {string} text */
function whole(text) {
  if (!/^\d{1,9}$/.test(text)) {
    throw new UsageError(`not a number: ${text}`);
  }
  return Number(text);
}

/** @param {string} file */
function vectors(file) {
  const { asks, difference } = answerVectors(file);
  if (difference !== undefined || asks === 0) {
    throw new ClientError(`${file}: ${difference ?? "no asks"}`);
  }
  console.log(`${file}: ${asks} asks answered as recorded`);
}

/**
 * Prepares a text for a terminal: without control characters.
 * @param {string} text
 */
function printable(text) {
  return text.replace(/[\p{C}\u2028\u2029]/gu, "\ufffd");
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`${printable(error.message)}\n\n${USAGE}`);
    process.exitCode = EXIT.usage;
  } else if (error instanceof ClientError) {
    console.error(printable(error.message));
    process.exitCode = error.exitCode;
  } else {
    throw error;
  }
}
