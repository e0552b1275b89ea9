// Take every part of a message out by its type: this compiles only if each `type` fixes one interface, and if no
// kind of message is forgotten.
import type { Board, Decision, Event, Message, Move, ReplayLine } from "./stellwerk.js";

export interface Parts {
  moves: Move[];
  decisions: Decision[];
  events: Event[];
}

export function parts(message: Message): Parts {
  const found: Parts = { moves: [], decisions: [], events: [] };
  switch (message.type) {
    case "act":
      found.moves.push(...(message.move === undefined ? [] : [message.move]));
      break;
    case "ask":
      found.moves.push(message.fallback, ...(message.legal ?? []));
      found.decisions.push(message.decision, ...(message.view?.pending === undefined ? [] : [message.view.pending]));
      break;
    case "default":
      found.moves.push(message.move);
      break;
    case "error":
      found.moves.push(...(message.nearest === undefined ? [] : [message.nearest]));
      break;
    case "event":
      found.events.push(message.event);
      found.decisions.push(...(message.event.type === "asked" ? [message.event.decision] : []));
      break;
    case "bye":
    case "end":
    case "hello":
    case "join":
    case "joined":
    case "leave":
    case "left":
    case "login":
    case "match_list":
    case "matches":
    case "ok":
    case "ping":
    case "pong":
    case "ready":
    case "seat":
    case "start":
    case "watch":
    case "welcome":
      break;
    default:
      message satisfies never;
  }
  return found;
}

export function readMessage(message: Message): void {
  parts(message);
  console.log(JSON.stringify(message));
}

export function readBoard(board: Board): void {
  console.log(JSON.stringify(board));
}

export function readReplayLine(line: ReplayLine): void {
  console.log(JSON.stringify(line));
}
