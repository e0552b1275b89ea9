// Server-sent events out of a text that arrives in pieces (HTML standard, 9.2), as far as our server uses them.
//
// Law: pure, without a connection, so that each cut of a stream can be tested. What is not finished waits.

/** @typedef {{id: string, type: string, data: string}} StreamEvent */

const LONGEST = 64 * 1024 * 1024; // characters of one event: more is no stream of ours

export class EventReader {
  #rest = "";

  /**
   * Returns the events that are complete now.
   * @param {string} piece
   * @returns {StreamEvent[]}
   */
  read(piece) {
    this.#rest += piece;
    if (this.#rest.length > LONGEST) throw new Error("an event without an end");
    const records = this.#rest.split("\n\n");
    this.#rest = records.pop() ?? "";
    return records.flatMap((record) => {
      const event = { id: "", type: "message", data: "" };
      let hasData = false;
      for (const line of record.split("\n")) {
        const at = line.indexOf(":");
        if (at <= 0) continue; // a comment
        const value = line.slice(at + 1).replace(/^ /, "");
        if (line.startsWith("id:")) event.id = value;
        else if (line.startsWith("event:")) event.type = value;
        else if (line.startsWith("data:")) {
          event.data += (hasData ? "\n" : "") + value;
          hasData = true;
        }
      }
      return hasData ? [event] : [];
    });
  }
}
