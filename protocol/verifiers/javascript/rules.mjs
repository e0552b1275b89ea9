// The rules of a game, made of its parts: what each part and its numbers mean.
//
// The law: parts are looked up by their names here, and their numbers are those of the list; what a part does is in the
// module of its chapter.

import { drawing, secondCard } from "./draws.mjs";
import { partNamed, technologiesOf } from "./games.mjs";
import { placeCard, shareTicket, sharingTickets } from "./holders.mjs";
import { buying, claimByTechnology } from "./purchases.mjs";
import { completingTickets, layingCards, sendCards } from "./rail_yards.mjs";
import { BONUSES, ofOwner, stationsLeft } from "./scoring.mjs";
import { bestUse, buildingStations } from "./stations.mjs";
import { drawingTickets, firstTickets, keepingTickets, longTickets } from "./tickets.mjs";
import { claiming, payTunnel } from "./tunnels.mjs";
import { turnOf } from "./turns.mjs";

/** @typedef {import("./game.mjs").Action} Action */
/** @typedef {import("./game.mjs").DecisionPart} DecisionPart */
/** @typedef {import("./game.mjs").Game} Game */
/** @typedef {import("./game.mjs").Player} Player */
/** @typedef {import("./games.mjs").Parts} Parts */
/**
 * What a game asks of its parts.
 * @typedef {object} Rules
 * @property {number} teamSize how many players make a team
 * @property {Parts["train_cards"]} trainCards
 * @property {((game: Game) => void)[]} deals the set-up after the train cards
 * @property {import("./tickets.mjs").Offer | undefined} firstOffer
 * @property {import("./tickets.mjs").Offer | undefined} laterOffer
 * @property {Record<string, DecisionPart>} decisions
 * @property {((game: Game, player: Player) => void)[]} startOfTurn
 * @property {Record<number, Record<number, number>>} openTracks by players and tracks, how many can be claimed; absent: all
 * @property {import("./games.mjs").Technology[]} technologies
 * @property {number} substitute so many cards count as a locomotive; 0: none do
 * @property {string[]} overseas regions whose routes need no technology
 * @property {LastRound} lastRound
 * @property {boolean} hasYards
 * @property {Record<number, number>} halves of a game, by players; absent: one
 * @property {import("./scoring.mjs").Bonus[]} bonuses in the order of the result
 * @property {((game: Game, team: import("./game.mjs").Team) => import("./scoring.mjs").StationUse[]) | undefined} stationUse
 * @property {string[]} tieBreaks
 */
/** @typedef {{ reason: string, isDue: (game: Game, player: Player) => boolean }} LastRound */

/** @type {Record<string, (part: any) => (game: Game) => void>} */
const DEALS = { holders: () => () => {}, long_tickets: longTickets, first_tickets: firstTickets };

/** @type {Record<string, (part: any) => Action>} */
const ACTIONS = {
  draw_cards: drawing,
  claim_route: () => claiming,
  draw_tickets: drawingTickets,
  share_tickets: () => sharingTickets,
  build_station: buildingStations,
  lay_cards: () => layingCards,
  buy_technology: () => buying,
};

/** @type {Record<string, (game: Game, player: Player) => void>} */
const STARTS = { send_cards: sendCards };

/** @type {Record<string, (part: any) => LastRound>} */
const LAST_ROUNDS = {
  // of both partners together (USA-14, ASIA-18)
  few_trains: ({ trains }) => ({
    reason: "trains",
    isDue: (game, player) => game.team(player).seats.reduce((sum, seat) => sum + game.players[seat].trains, 0) <= trains,
  }),
  empty_pile: () => ({ reason: "pile", isDue: ({ cards }) => cards.pile.length === 0 }), // CARD-12
};

/**
 * Returns the rules of a game with these parts.
 * @param {Parts} parts
 * @returns {Rules}
 */
export function rulesOf(parts) {
  const actions = parts.menu.map((part) => ACTIONS[part.part](part));
  const purchases = (parts.before_action ?? []).map((part) => ACTIONS[part.part](part));
  const technologies = technologiesOf(parts);
  const sale = partNamed(parts, "buy_technology");
  const stations = partNamed(parts, "build_station");
  const yards = partNamed(parts, "rail_yards");
  return {
    teamSize: parts.team_size,
    trainCards: parts.train_cards,
    deals: parts.set_up.map((part) => DEALS[part.part](part)),
    firstOffer: /** @type {any} */ (partNamed(parts, "first_tickets")),
    laterOffer: /** @type {any} */ (partNamed(parts, "draw_tickets")),
    decisions: {
      keep_tickets: keepingTickets,
      share_ticket: shareTicket,
      take_turn: turnOf(actions, purchases),
      take_action: turnOf(actions),
      place_card: placeCard,
      second_card: secondCard,
      claim_route: claimByTechnology,
      pay_tunnel: payTunnel,
      complete_tickets: completingTickets,
    },
    startOfTurn: (parts.start_of_turn ?? []).map((name) => STARTS[name]),
    openTracks: partNamed(parts, "claim_route")?.open_tracks ?? {},
    technologies,
    substitute: sale?.substitute ?? 0,
    overseas: sale?.overseas_regions ?? [],
    lastRound: LAST_ROUNDS[parts.last_round.part](parts.last_round),
    hasYards: yards !== undefined,
    halves: yards?.halves ?? {},
    bonuses: [
      ...(parts.bonuses ?? []).map((part) => BONUSES[part.part](part)),
      ...(stations === undefined ? [] : [stationsLeft(/** @type {any} */ (stations))]),
      ...technologies.flatMap(({ id, bonus }) => (bonus === undefined ? [] : [ofOwner(id, BONUSES[bonus.part](bonus))])),
    ],
    stationUse: stations && bestUse,
    tieBreaks: parts.tie_breaks ?? [],
  };
}
