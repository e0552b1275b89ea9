// A stream of the server, read by a real client from a real socket: it goes on where it was, and never gives up.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { EventReader } from "../../server/stellwerk_web/content/event_reader.mjs";
import { follow, waitAfter } from "../../server/stellwerk_web/content/stream.mjs";

globalThis.addEventListener ??= () => {};
globalThis.removeEventListener ??= () => {};

const RECORDS = 'id: a-1\nevent: state\ndata: {"n":1}\n\n:\n\nid: a-2\nevent: change\ndata: {"x":"\\u00e9: y"}\n\n';

test("a stream that is cut anywhere has the same events", () => {
  const whole = new EventReader().read(RECORDS);
  assert.deepEqual(whole, [
    { id: "a-1", type: "state", data: '{"n":1}' },
    { id: "a-2", type: "change", data: '{"x":"\\u00e9: y"}' },
  ]);
  for (let cut = 0; cut <= RECORDS.length; cut++) {
    const reader = new EventReader();
    assert.deepEqual([...reader.read(RECORDS.slice(0, cut)), ...reader.read(RECORDS.slice(cut))], whole);
  }
});

test("tries become rarer up to a limit, and not all readers come at once", () => {
  const waits = [1, 2, 3, 4, 5, 6, 50].map((failures) => waitAfter(failures, 0.5));
  assert.deepEqual(waits, [700, 1400, 2800, 5600, 11_200, 15_000, 15_000]);
  assert.ok(waitAfter(1, 0) < waitAfter(1, 1) / 1.5);
});

/** Serves what `answer` does with each request, and follows it until `done` is called. */
async function followed(answer, listener = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.headers["last-event-id"] ?? "");
    answer(response, requests.length);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const heard = [];
  const port = server.address().port;
  await new Promise((done) => {
    const stream = follow(`http://127.0.0.1:${port}/stream`, {
      state: (state) => hear("state", state),
      change: (change) => hear("change", change),
      status: ({ kind }) => hear(kind),
      missing: (words) => hear("missing", words),
      version: (version) => hear("version", version),
      ...listener,
    });
    function hear(...what) {
      // While it waits it says each second that it is lost.
      if (what[0] !== heard.at(-1)) heard.push(what.length === 1 ? what[0] : what);
      if (what[0] === "change") {
        stream.stop();
        done();
      }
    }
  });
  server.closeAllConnections();
  server.close();
  return { heard, requests };
}

const send = (response, text) => {
  response.writeHead(200, { "content-type": "text/event-stream", "stellwerk-modules": "0123456789abcdef" });
  response.write(text);
};

test("a stream that was cut off goes on behind the last event", async () => {
  const [state, change] = RECORDS.split(":\n\n");
  const { heard, requests } = await followed((response, number) => {
    send(response, number === 1 ? state : change);
    if (number === 1) setTimeout(() => response.destroy(), 20);
  });
  assert.deepEqual(requests, ["", "a-1"]);
  const version = ["version", "0123456789abcdef"];
  assert.deepEqual(heard, ["connecting", version, "live", ["state", { n: 1 }], "lost", version, "live", ["change", { x: "é: y" }]]);
});

test("a stream that goes on where nothing has changed is live at once", async () => {
  const { heard } = await followed(
    (response, number) => {
      if (number === 1) {
        send(response, RECORDS.split(":\n\n")[0]);
        setTimeout(() => response.destroy(), 20);
      } else send(response, ":\n\n");
      if (number === 2) setTimeout(() => response.destroy(), 20);
      if (number === 3) response.write(RECORDS.split(":\n\n")[1]);
    },
  );
  const kinds = heard.filter((what) => typeof what === "string");
  assert.deepEqual(kinds.slice(0, 5), ["connecting", "live", "lost", "live", "lost"]);
});

test("what is not there yet, or refused, is tried again", async () => {
  const { heard, requests } = await followed((response, number) => {
    if (number === 1) {
      response.writeHead(404);
      response.end("no match x is known here\n");
    } else if (number === 2) {
      response.writeHead(503);
      response.end("too many readers\n");
    } else send(response, RECORDS);
  });
  assert.equal(requests.length, 3);
  assert.deepEqual(heard.filter((what) => what !== "lost").slice(0, 2), ["connecting", ["missing", "no match x is known here"]]);
  assert.deepEqual(heard.at(-1), ["change", { x: "é: y" }]);
});

test("a part of the page that fails costs the stream nothing", async () => {
  const reported = [];
  globalThis.reportError = (error) => reported.push(error.message);
  const { heard } = await followed((response) => send(response, RECORDS), {
    state: () => {
      throw new Error("a pane is broken");
    },
  });
  assert.deepEqual(reported, ["a pane is broken"]);
  assert.deepEqual(heard.at(-1), ["change", { x: "é: y" }]);
});
