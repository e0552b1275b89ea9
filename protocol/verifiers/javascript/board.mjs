// Board files and their digest (BOARDS.md), as far as the game `usa` needs them. This program does not check
// whether a board is valid: one with a digest that you trust is.

import { canonical, digits, UntrueError } from "./canonical.mjs";

const FOREIGN = ["big_cities", "city_groups"]; // fields that no rule of `usa` uses
const FOREIGN_TO_ROUTES = ["locomotives", "tunnel", "always_open"];
const DEFAULTS = { junction: false, locomotives: 0, tunnel: 0, parallel: 1, always_open: false, long: false, doubtful: false };

/** Returns a board from the text of its file. */
export function readBoard(text) {
  const file = JSON.parse(text);
  for (const record of [...file.cities, ...(file.routes ?? []), ...file.tickets]) {
    for (const [name, value] of Object.entries(DEFAULTS)) {
      if (record[name] === value) {
        delete record[name];
      }
    }
  }
  const routes = file.routes ?? [];
  const foreign =
    FOREIGN.some((name) => name in file) ||
    routes.some((route) => FOREIGN_TO_ROUTES.some((name) => name in route)) ||
    file.tickets.some((ticket) => "long" in ticket);
  return {
    file,
    id: file.id,
    digest: digits(canonical(file, Number.isFinite)),
    playable: routes.length > 0 && !foreign,
    deck: { each: file.cards_each_color, locomotives: file.locomotives },
    trains: file.trains,
    points: file.route_points,
    routes: new Map(routes.map((route) => [route.id, route])),
    tickets: new Map(file.tickets.map((ticket) => [ticket.id, ticket])),
  };
}

/** Returns the known board that a header names, or the one that it contains. */
export function boardOf(header, boards) {
  const { id, digest, content } = header.board;
  let board = boards.find((each) => each.digest === digest);
  if (content !== undefined) {
    if (digits(content) !== digest) {
      throw new UntrueError("the board's digest is not that of its content");
    }
    try {
      board = readBoard(content);
    } catch {
      throw new UntrueError("the board's content is no board");
    }
    if (board.digest !== digest) {
      throw new UntrueError("the board's content is not canonical");
    }
  }
  if (board === undefined) {
    throw new UntrueError(`the board ${id} with the digest ${digest} is not at hand`, false);
  }
  if (board.id !== id) {
    throw new UntrueError(`expected the board ${board.id}`);
  }
  if (header.game === "usa" && !board.playable) {
    throw new UntrueError("the board has what the rules of usa do not speak of", false);
  }
  return board;
}
