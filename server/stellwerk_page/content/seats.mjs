// The seats: points, trains, cards, tickets, and what failed.
//
// Law: of a hand that the viewer may not see, the pane shows the cards that everybody saw and the number of the others.

import { html } from "./markup.mjs";
import { cardCount, counted, faultReason, inOrder, signed, ticketPoints } from "./names.mjs";
import { applySeat, seatMark } from "./paints.mjs";
import { technologyPlates } from "./pieces.mjs";
import { redraw } from "./redraw.mjs";
import { cardChips } from "./said.mjs";
import { Ways } from "./tickets.mjs";
import { faultsOf } from "./timeline.mjs";

/** @typedef {import("./types.mjs").View} View */
/** @typedef {import("./types.mjs").PlayerView} PlayerView */
/** @typedef {import("./match.mjs").Match} Match */

/** @param {Match} match */
export function createSeats(match) {
  const list = html("ul", { class: "seats" });
  const ways = new Ways(match);
  const element = html("section", { class: `pane seats-pane${match.players.length > 4 ? " many" : ""}`, "aria-labelledby": "seats-title" }, html("h2", { id: "seats-title" }, "Seats"), list);
  /** @param {number} n @param {View} view */
  function show(n, view) {
    const teams = view.teams;
    /** @type {HTMLElement[]} */
    const items = [];
    for (const player of view.players) {
      const isFirstOfTeam = teams !== undefined && view.players.find(({ team }) => team === player.team) === player;
      if (isFirstOfTeam) items.push(teamItem(view, player.team));
      items.push(seatItem(match, n, view, player, ways));
    }
    redraw(list, ...items);
  }
  return { element, show };
}

/**
 * @param {Match} match
 * @param {number} n
 * @param {View} view
 * @param {PlayerView} player
 * @param {Ways} ways
 */
function seatItem(match, n, view, player, ways) {
  const { seat } = player;
  const isAsked = view.pending?.seats.includes(seat) === true;
  const isChosen = match.select.seat === seat && match.select.ticket === null;
  const name = html(
    "button",
    { type: "button", class: "seat-name", "data-key": `seat ${seat}`, "aria-pressed": String(isChosen), title: "Light up this seat's routes" },
    match.players[seat]?.name ?? `seat ${seat}`,
  );
  name.addEventListener("click", () => match.choose(isChosen ? {} : { seat }));
  const item = html(
    "li",
    { class: `seat-item${isAsked ? " asked" : ""}${match.viewer === seat ? " viewer" : ""}` },
    html(
      "div",
      { class: "seat-head" },
      seatMark(seat),
      html("span", { class: "unseen" }, `Seat ${seat}: `),
      name,
      ...(isAsked ? [html("span", { class: "turn-badge" }, "to move")] : []),
      ...stateBadge(match, seat),
      html("span", { class: "seat-points" }, html("b", {}, String(player.points)), html("span", { class: "unit" }, " points")),
    ),
    figures(match, n, player, ticketsNow(view, player, ways, match)),
    handLine(player),
    ...(player.technologies === undefined || player.technologies.length === 0
      ? []
      : [technologyPlates(player.technologies)]),
  );
  applySeat(item, seat);
  return item;
}

/** @type {Record<string, string>} */
const STATES = { lost: "connection lost", left: "has left", by_default: "plays by default" };

/**
 * Returns what is the matter with a seat now, if anything is.
 * @param {Match} match
 * @param {number} seat
 */
function stateBadge({ replay, n, count }, seat) {
  const state = STATES[replay.states?.get(seat) ?? ""];
  return state === undefined || n < count ? [] : [html("span", { class: "fault-badge" }, state)];
}

/**
 * @param {Match} match
 * @param {number} n
 * @param {PlayerView} player
 * @param {number | null} tickets
 */
function figures(match, n, player, tickets) {
  /** @type {[string, string, string?][]} */
  const facts = [];
  if (player.trains !== undefined) facts.push([String(player.trains), player.trains === 1 ? "train" : "trains"]);
  facts.push([String(player.hand_count), player.hand_count === 1 ? "card" : "cards"]);
  facts.push([String(player.ticket_count), player.ticket_count === 1 ? "ticket" : "tickets"]);
  if (player.stations_left !== undefined) facts.push([String(player.stations_left), player.stations_left === 1 ? "station left" : "stations left"]);
  if (player.stack_count !== undefined) facts.push([String(player.stack_count), "on the stack"]);
  if (player.completed !== undefined && player.completed.length > 0) facts.push([String(player.completed.length), "completed"]);
  if (tickets !== null) facts.push([`${tickets > 0 ? "+" : ""}${signed(tickets)}`, "for tickets, as it stands", "as-it-stands"]);
  const faults = faultsOf(match.replay, player.seat, n);
  const faultCount = [...faults.values()].reduce((sum, number) => sum + number, 0);
  const list = html("p", { class: "figures" }, ...facts.map(([number, unit, kind]) => html("span", { class: kind }, html("b", {}, number), ` ${unit}`)));
  if (faultCount > 0) {
    const reasons = [...faults].map(([reason, number]) => `${faultReason(reason)} ${number}×`).join(", ");
    list.append(html("span", { class: "fault-badge", title: reasons }, counted(faultCount, "default"), html("span", { class: "unseen" }, `: ${reasons}`)));
  }
  return list;
}

/**
 * Returns what the tickets of a seat would bring if the match ended now; null if the viewer does not know them, or if
 * tickets are scored otherwise.
 * @param {View} view
 * @param {PlayerView} player
 * @param {Ways} ways
 * @param {Match} match
 */
function ticketsNow(view, { seat, tickets }, ways, match) {
  if (tickets === undefined || tickets.length === 0 || view.result !== undefined || (match.board.routes ?? []).length === 0) return null;
  return tickets.reduce((sum, id) => {
    const points = ticketPoints(match.board, id) ?? 0;
    return sum + (ways.standing(view, seat, id).state === "done" ? points : -points);
  }, 0);
}

/** @param {PlayerView} player */
function handLine(player) {
  if (player.hand !== undefined) return html("p", { class: "hand" }, cardChips(player.hand, "no cards in hand"));
  const hidden = player.hand_count - cardCount(player.known_cards);
  const line = html("p", { class: "hand" });
  if (inOrder(player.known_cards).length > 0) line.append(cardChips(player.known_cards), " ");
  if (hidden > 0) line.append(html("span", { class: "hidden-cards" }, `${hidden} unknown`));
  if (player.hand_count === 0) line.append(html("span", { class: "muted" }, "no cards in hand"));
  return line;
}

/**
 * @param {View} view
 * @param {number} number
 */
function teamItem(view, number) {
  const team = view.teams?.find(({ team: each }) => each === number);
  const partners = view.players.filter((player) => player.team === number);
  const points = partners.reduce((sum, player) => sum + player.points, 0);
  const item = html(
    "li",
    { class: "team" },
    html("div", { class: "seat-head" }, html("span", { class: "team-name" }, `Team ${number}`), html("span", { class: "seat-points" }, html("b", {}, String(points)), html("span", { class: "unit" }, " points"))),
  );
  if (team === undefined) return item;
  const hidden = team.holder_count - cardCount(team.known_holder);
  const line = html("p", { class: "hand" }, html("span", { class: "place" }, "Holder: "));
  if (team.holder !== undefined) line.append(cardChips(team.holder, "empty"));
  else if (team.holder_count === 0) line.append(html("span", { class: "muted" }, "empty"));
  else {
    if (inOrder(team.known_holder).length > 0) line.append(cardChips(team.known_holder), " ");
    if (hidden > 0) line.append(html("span", { class: "hidden-cards" }, `${hidden} unknown`));
  }
  line.append(html("span", { class: "muted" }, ` · ${counted(team.shared_count, "shared ticket")}`));
  item.append(line);
  return item;
}
