// The shapes of what the page works on, for the type checker only: this module has nothing that runs.
//
// Law: what comes from a replay is as the protocol says (README.md, REPLAYS.md), or it is refused by `replay_file.mjs`
// and `positions.mjs` before any pane sees it.

/** @typedef {Record<string, number>} Cards from color to count, without zeros */
/** @typedef {number | "public" | "all_hands"} Viewer */

/** @typedef {{id: string, name: string, x?: number, y?: number, region?: string, junction?: boolean}} City */
/**
 * @typedef {{id: string, a: string, b: string, length: number, color: string, locomotives?: number, tunnel?: number,
 *   parallel?: number, always_open?: boolean, doubtful?: boolean}} Route
 */
/**
 * @typedef {{id: string, a: string, b: string, points: number, cards?: Cards, long?: boolean, doubtful?: boolean}} Ticket
 */
/**
 * The content of a board file (BOARDS.md).
 * @typedef {{format: string, id: string, title: string, provenance?: string, cards_each_color: number,
 *   locomotives: number, trains?: number, route_points?: Record<string, number>, cities: City[],
 *   city_groups?: Record<string, string[]>, routes?: Route[], tickets: Ticket[],
 *   big_cities?: Record<string, number>}} Board
 */

/** @typedef {{color: string, cards: number, locomotives: number}} YardSet */
/**
 * @typedef {{seat: number, team: number, points: number, hand_count: number, known_cards: Cards, ticket_count: number,
 *   trains?: number, routes?: string[], technologies?: string[], stations?: string[], stations_left?: number,
 *   removed_count?: number, yard?: YardSet[], stack_count?: number, completed?: string[], hand?: Cards,
 *   tickets?: string[], offered?: string[], returned?: string[], removed?: string[], stack?: Cards}} PlayerView
 */
/**
 * @typedef {{team: number, holder_count: number, known_holder: Cards, shared_count: number, holder?: Cards,
 *   shared_tickets?: string[]}} TeamView
 */
/**
 * @typedef {{type: string, seats: number[], route?: string, cards?: Cards, holder_cards?: Cards, revealed?: Cards,
 *   extra?: number, offered_count?: number, keep?: number, place?: string, may_stop?: boolean, open?: boolean,
 *   card?: string, technology?: string, claims_left?: number, reason?: string}} Decision
 */
/**
 * @typedef {{team: number, seats: number[], rank: number, points: number, route_points: number,
 *   tickets: {ticket: string, completed: boolean, points: number}[], bonuses: {bonus: string, points: number}[],
 *   completed_tickets: number, longest_path: number, stations?: {city: string, route?: string}[]}} TeamResult
 */
/** @typedef {{reason: string, turns: number, ranks: number[], teams: TeamResult[]}} Result */
/**
 * What a viewer may know at one moment (README.md, Views).
 * @typedef {{game: string, viewer: string, turn: number, progress_turn: number, passes: number, market: Cards,
 *   pile: number, pile_may_hold: Cards, discards: Cards, ticket_pile: number, players: PlayerView[], seat?: number,
 *   teams?: TeamView[], supply?: Record<string, number>, half?: number, removed_tickets?: number,
 *   turns_left?: number, pending?: Decision, result?: Result}} View
 */
/**
 * One fact (README.md, Events), with the fields of all kinds.
 * @typedef {{type: string, seat?: number, count?: number, cards?: Cards, may_hold?: Cards, turn?: number,
 *   passes?: number, turns_left?: number, decision?: Decision, reason?: string, result?: Result, card?: string,
 *   place?: string, open?: boolean, route?: string, trains?: number, points?: number, holder_cards?: Cards,
 *   revealed?: Cards, extra?: number, tickets?: string[], returned?: string[], returned_count?: number,
 *   color?: string, half?: number, technology?: string, technologies?: string[], city?: string}} Event
 */

/**
 * @typedef {{format: string, game: string, rules_version: number, options: string[],
 *   board: {id: string, digest: string, content?: string}, seats: {name?: string}[], match?: string,
 *   commitment?: string, parts?: import("../../../protocol/verifiers/javascript/games.mjs").Parts}} Header
 */
/** @typedef {{seed: string, salt?: string}} Reveal */
/**
 * @typedef {{seat: number, move: {type: string}, events: Event[], by?: string, reason?: string, note?: string}} MoveLine
 */
/**
 * A replay as far as it can be read, with a sentence for each problem. A match that is watched while it is played has
 * the same form, and grows: `isPublic` means that it is made of what everybody may know, without hands, notes and
 * defaults; `states` are those of seats in trouble, as a spectator hears of them.
 * @typedef {{header: Header | null, reveal: Reveal | null, setUp: Event[], moves: MoveLine[], end: Result | null,
 *   problems: string[], isPublic?: boolean, states?: Map<number, string>}} Replay
 */

/** @typedef {{seat: number, team: number, name: string}} Player */
/** @typedef {{seat: number | null, route: string | null, ticket: string | null}} Selection */
/** What a part of the page needs to know of the match. @typedef {import("./match.mjs").Match} Context */
/** @typedef {{element: HTMLElement, show: (n: number, view: View) => void}} Pane */

export {};
