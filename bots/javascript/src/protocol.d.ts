// The messages of protocol 1, see ../../../protocol/README.md. An optional field is absent, never null.

export type Color = "purple" | "blue" | "orange" | "white" | "green" | "yellow" | "black" | "red" | "locomotive";
export type Cards = { [color in Color]?: number };
export type Place = "hand" | "holder";
export type Viewer = "seat" | "public" | "all_hands";
export type EndReason = "trains" | "pile" | "all_passed" | "idle";

// -- what you write

/** The answer to an ask: `index` counts from 0 in its `legal`. */
export type Answer = { index: number; note?: string } | { move: Move; note?: string };

/** Plays one match for one seat. An answer should depend only on `start` and on the ask. */
export interface Player {
  answer(ask: Ask): Answer | Promise<Answer>;
  event?(event: GameEvent): void;
}

// -- from the server

export type ServerMessage =
  | Hello
  | Welcome
  | Joined
  | Left
  | Start
  | EventMessage
  | Ask
  | Ok
  | ErrorMessage
  | Default
  | SeatChanged
  | End
  | MatchList
  | Pong
  | Bye;

export interface Hello {
  type: "hello";
  protocols: number[];
  server: string;
  limits: Limits;
  features: string[];
}

export interface Limits {
  line_before_login: number;
  line: number;
  depth: number;
  login_ms: number;
  messages_a_second: number;
  burst: number;
  unsent_bytes: number;
  unsent_ms: number;
}

export interface Welcome {
  type: "welcome";
  session: string;
  resume_key: string;
  name: string;
  wants: Wants;
  games: OfferedGame[];
}

export interface OfferedGame {
  game: string;
  title: string;
  rules_version: number;
  board: string;
  board_digest: string;
  players: number[];
  options: string[];
}

export interface Joined {
  type: "joined";
  room: string;
  missing: number;
  request?: string;
}

export interface Left {
  type: "left";
  room?: string;
  match?: string;
}

export interface Start {
  type: "start";
  match: string;
  viewer: Viewer;
  players: SeatedPlayer[];
  game: string;
  rules_version: number;
  options: string[];
  board: Board;
  board_digest: string;
  clocks: Clocks;
  commitment: string;
  seat?: number;
  technologies?: TechnologyForSale[];
  parts?: object; // of a game in no list: protocol/PARTS.md
  request?: string;
}

export interface TechnologyForSale {
  technology: string;
  supply: number;
  price: number;
  regions?: string[];
  lengths?: number[];
  ferries?: boolean;
}

export interface SeatedPlayer {
  seat: number;
  team: number;
  name: string;
}

export interface Clocks {
  set_up_ms: number;
  move_ms: number;
  bank_ms: number;
  grace_ms: number;
  strikes: number;
  tries: number;
  defaults_in_a_row: number;
  defaults: number;
}

export interface EventMessage {
  type: "event";
  match: string;
  number: number;
  event: GameEvent;
}

/** One of the events in the specification, with its fields. */
export interface GameEvent {
  type: string;
  [field: string]: unknown;
}

export interface Ask {
  type: "ask";
  match: string;
  ask: number;
  after_event: number;
  decision: Decision;
  move_ms: number;
  bank_ms: number;
  tries: number;
  fallback: Move;
  /** Present unless `wants` is false; this client wants it. */
  view: View;
  /** The same. */
  legal: Move[];
  legal_complete: boolean;
}

export interface Ok {
  type: "ok";
  match: string;
  ask: number;
  took_ms: number;
  bank_ms: number;
}

export interface ErrorMessage {
  type: "error";
  code: string;
  expected: string;
  pointer?: string;
  match?: string;
  ask?: number;
  tries?: number;
  nearest?: Move;
  retry_ms?: number;
  request?: string;
}

export interface Default {
  type: "default";
  match: string;
  ask: number;
  reason: "time" | "tries" | "left" | "disconnected" | "by_default";
  move: Move;
  defaults: number;
  by_default?: boolean;
}

export interface SeatChanged {
  type: "seat";
  match: string;
  seat: number;
  state: "lost" | "back" | "left" | "by_default";
}

export interface End {
  type: "end";
  match: string;
  result: Result;
  transcript: string;
  reveal: "now" | "later";
  seed?: string;
  salt?: string;
}

export interface MatchList {
  type: "match_list";
  /** For the next `matches`. */
  cursor: string;
  matches: ListedMatch[];
  /** Forget the matches of earlier replies. */
  anew?: boolean;
  /** There are more: ask again at once. */
  more?: boolean;
}

export interface ListedMatch {
  match: string;
  state: "running" | "ended" | "failed";
  game: string;
  options: string[];
  players: SeatedPlayer[];
  decisions?: number;
  turns?: number;
  ranks?: number[];
  points?: number[];
}

export interface Pong {
  type: "pong";
  echo?: number;
}

export interface Bye {
  type: "bye";
  code: string;
  expected: string;
  retry_ms?: number;
}

// -- from the client

export type ClientMessage = Login | Join | Leave | Ready | Act | Ping | Watch | ListMatches;

export interface Login {
  type: "login";
  protocol: number;
  name: string;
  language?: string;
  token?: string;
  max_matches?: number;
  wants?: Wants;
  resume?: Resume;
}

export interface Wants {
  legal?: boolean;
  view?: boolean;
  events?: boolean;
}

export interface Resume {
  session: string;
  key: string;
  last_events: { [match: string]: number };
  /** Matches whose `end` has arrived; only if `features` has `resume_ended`. */
  ended?: string[];
}

export interface Join {
  type: "join";
  game: string;
  players: number;
  options?: string[];
  room?: string;
  against?: string[];
  seat?: number;
  seed?: string;
  request?: string;
}

export interface Leave {
  type: "leave";
  match?: string;
  room?: string;
}

export interface Ready {
  type: "ready";
  match: string;
}

export interface Act {
  type: "act";
  match: string;
  ask: number;
  index?: number;
  move?: Move;
  note?: string;
}

export interface Ping {
  type: "ping";
  echo?: number;
}

export interface Watch {
  type: "watch";
  match: string;
  viewer?: "public" | "all_hands";
  request?: string;
}

/** Only if `features` has `matches`. */
export interface ListMatches {
  type: "matches";
  after?: string;
}

// -- the board

export interface Board {
  format: string;
  id: string;
  title: string;
  provenance: string;
  cards_each_color: number;
  locomotives: number;
  trains?: number;
  route_points?: { [length: string]: number };
  cities: City[];
  city_groups?: { [group: string]: string[] };
  routes?: Route[];
  tickets: Ticket[];
  big_cities?: { [city: string]: number };
}

export interface City {
  id: string;
  name: string;
  x?: number;
  y?: number;
  region?: string;
  junction?: boolean;
}

export interface Route {
  id: string;
  a: string;
  b: string;
  length: number;
  color: Exclude<Color, "locomotive"> | "gray";
  locomotives?: number;
  tunnel?: number;
  parallel?: number;
  always_open?: boolean;
  doubtful?: boolean;
}

export interface Ticket {
  id: string;
  a: string;
  b: string;
  points: number;
  /** In the card game. */
  cards?: Cards;
  long?: boolean;
  doubtful?: boolean;
}

// -- decisions and moves

export type Decision =
  | { type: "keep_tickets"; seats: number[]; offered_count: number; keep: number }
  | { type: "share_ticket"; seats: number[]; offered_counts: number[] }
  | { type: "take_turn"; seats: number[] }
  | { type: "take_action"; seats: number[] }
  | { type: "second_card"; seats: number[]; place: Place; may_stop: boolean }
  | { type: "place_card"; seats: number[]; open: boolean; card?: Color }
  | {
      type: "claim_route";
      seats: number[];
      technology: string;
      claims_left: number;
      right_of_way: boolean;
      may_stop: boolean;
    }
  | {
      type: "pay_tunnel";
      seats: number[];
      route: string;
      cards: Cards;
      holder_cards: Cards;
      revealed: Cards;
      extra: number;
    }
  | { type: "complete_tickets"; seats: number[]; reason: EndReason };

export type Move =
  | { type: "draw_card" }
  | { type: "take_card"; card: Color }
  | { type: "draw_three" }
  | { type: "place_card"; place: Place }
  | { type: "claim_route"; route: string; cards?: Cards; holder_cards?: Cards }
  | { type: "pay_tunnel"; cards?: Cards; holder_cards?: Cards }
  | { type: "abandon_tunnel" }
  | { type: "stop" }
  | { type: "draw_tickets" }
  | { type: "keep_tickets"; tickets: string[] }
  | { type: "share_tickets"; tickets: string[] }
  | { type: "lay_cards"; cards: Cards }
  | { type: "complete_tickets"; tickets: string[] }
  | { type: "buy_technology"; technology: string; cards: Cards }
  | { type: "build_station"; city: string; cards: Cards }
  | { type: "pass" };

// -- views and results

export interface View {
  game: string;
  viewer: Viewer;
  turn: number;
  progress_turn: number;
  passes: number;
  market: Cards;
  pile: number;
  pile_may_hold: Cards;
  discards: Cards;
  ticket_pile: number;
  players: PlayerView[];
  /** Has every seat: `players[seat]` is your own. */
  seat: number;
  teams?: TeamView[];
  supply?: { [technology: string]: number };
  half?: number;
  removed_tickets?: number;
  turns_left?: number;
  pending?: Decision;
  result?: Result;
}

export interface PlayerView {
  seat: number;
  team: number;
  points: number;
  hand_count: number;
  known_cards: Cards;
  ticket_count: number;
  trains?: number;
  routes?: string[];
  technologies?: string[];
  stations?: string[];
  stations_left?: number;
  removed_count?: number;
  yard?: YardStack[];
  stack_count?: number;
  completed?: string[];
  hand?: Cards;
  tickets?: string[];
  offered?: string[];
  returned?: string[];
  stack?: Cards;
  removed?: string[];
}

export interface YardStack {
  color: Color;
  cards: number;
  locomotives: number;
}

export interface TeamView {
  team: number;
  holder_count: number;
  known_holder: Cards;
  shared_count: number;
  holder?: Cards;
  shared_tickets?: string[];
}

export interface Result {
  reason: EndReason;
  turns: number;
  ranks: number[];
  teams: TeamResult[];
}

export interface TeamResult {
  team: number;
  seats: number[];
  rank: number;
  points: number;
  route_points: number;
  tickets: TicketScore[];
  bonuses: Bonus[];
  completed_tickets: number;
  longest_path: number;
  stations?: Station[];
}

export interface Station {
  city: string;
  route?: string;
}

export interface TicketScore {
  ticket: string;
  completed: boolean;
  points: number;
}

export interface Bonus {
  bonus: string;
  points: number;
}
