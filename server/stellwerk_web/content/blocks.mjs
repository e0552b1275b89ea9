// Blocks of a tournament that are being played: who plays, and nothing else before they are complete.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { gameName } from "../../stellwerk_page/content/names.mjs";
import { redraw } from "../../stellwerk_page/content/redraw.mjs";
import { excerpt } from "../../stellwerk_page/content/replay_file.mjs";

const MOST = 50;

export function createBlocks() {
  const list = html("ol", { class: "match-list" });
  const element = html("div", { class: "blocks" }, html("p", { class: "muted note-line" }, "Blocks that are played now. Their matches share a deal, so they can be seen when the block is complete."), list);
  element.hidden = true;
  let drawn = "";

  /**
   * Returns whether there is anything to show.
   * @param {Record<string, any> | null} tournament
   */
  function show(tournament) {
    /** @type {{block: number, round: number, game: string, players: string[]}[]} */
    const blocks = Array.isArray(tournament?.blocks) ? tournament.blocks : [];
    const state = JSON.stringify(blocks);
    element.hidden = blocks.length === 0;
    if (state !== drawn) {
      drawn = state;
      redraw(
        list,
        ...blocks.slice(0, MOST).map(({ block, round, game, players }) =>
          html(
            "li",
            { class: "match-row" },
            html("div", { class: "block" }, html("span", { class: "standings" }, ...players.map((name) => html("span", { class: "name" }, excerpt(name)))), html("span", { class: "facts" }, `${gameName(game)} · block ${block}, round ${round}`)),
          ),
        ),
      );
    }
    return blocks.length > 0;
  }
  return { element, show };
}
