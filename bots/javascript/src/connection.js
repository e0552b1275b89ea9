// A connection to the server: over TCP, over TLS, or this process's own standard input and output.

import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";

import { decode, encode, lines } from "./codec.js";

/** @import { Readable, Writable } from "node:stream" */
/** @import { ClientMessage } from "./protocol.js" */

export const STDIO = "stdio:";

const CONNECT_MS = 10_000;

/** An error for a text that is not an address. */
export class AddressError extends Error {}

export class Connection {
  #incoming;
  #outgoing;

  /** @param {Readable} incoming @param {Writable} outgoing */
  constructor(incoming, outgoing) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    outgoing.on("error", () => incoming.destroy()); // the reader of the messages sees the end
  }

  /**
   * Sends a message in one write: two for one line would wait for each other on the network.
   * @param {ClientMessage} message
   */
  send(message) {
    this.#outgoing.write(encode(message));
  }

  /** Yields the messages as they come, until the connection ends for any reason. */
  async *messages() {
    for await (const line of lines(this.#chunks())) {
      yield decode(line);
    }
  }

  async *#chunks() {
    try {
      yield* this.#incoming;
    } catch {
      // a reset ends the connection, too
    }
  }

  close() {
    this.#incoming.destroy();
  }
}

/**
 * Connects to `tcp://HOST:PORT`, `tls://HOST:PORT` or `stdio:`. Throws AddressError, or an error of the system.
 * @param {string} address
 */
export async function connect(address) {
  if (address === STDIO) {
    return new Connection(process.stdin, process.stdout);
  }
  const { secure, host, port } = parts(address);
  const socket = secure
    ? tls.connect({ host, port, servername: net.isIP(host) ? "" : host })
    : net.connect({ host, port });
  socket.setNoDelay(true);
  socket.setKeepAlive(true); // detects a peer that died silently
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error("no answer in time")));
  await once(socket, secure ? "secureConnect" : "connect");
  socket.setTimeout(0); // other players may think for long
  return new Connection(socket, socket);
}

/** @param {string} address */
function parts(address) {
  const match = /^(tcp|tls):\/\/(?:\[([^\]]+)\]|([^:/@[\]]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[4]);
  if (match === null || port < 1 || port > 65_535) {
    throw new AddressError(`not an address:  ${address}; it is tcp://HOST:PORT, tls://HOST:PORT or ${STDIO}`);
  }
  return { secure: match[1] === "tls", host: match[2] ?? match[3] ?? "", port };
}
