// The parts in a header or a `start` (PARTS.md): their form, their bounds, and whether they go together.

import { canonical } from "./canonical.mjs";
import { id, isFlag, list, oneOf, record, table, whole } from "./forms.mjs";
import { technologiesOf } from "./games.mjs";

/** @typedef {import("./forms.mjs").Form} Form */
/** @typedef {import("./forms.mjs").Test} Test */
/** @typedef {import("./games.mjs").Parts} Parts */

/**
 * Tests a record whose optional fields are left out if they are 0, false or empty.
 * @type {(form: Form) => Test}
 */
const sparse = (form) => (value) =>
  record(form)(value) && Object.keys(form).every((name) => !name.endsWith("?") || !isEmpty(value[name.slice(0, -1)]));
/** @type {Test} */
const isEmpty = (value) => value === 0 || value === false || (typeof value === "object" && Object.keys(value).length === 0);

const LONGEST = 4000; // bytes of canonical JSON
const count = whole(0, 100);
const points = whole(-200, 200);
const regions = list(0, 8, id(32));
const lengths = list(0, 12, whole(1, 12));
/** @type {Test} */
const isBonusName = (value) => typeof value === "string" && value.length <= 64 && /^[a-z0-9][a-z0-9_:]*$/.test(value);

/** @type {(forms: Record<string, Form>) => Test} */
const oneOfParts = (forms) => (value) =>
  Object.hasOwn(forms, value?.part) && sparse({ part: oneOf(value.part), ...forms[value.part] })(value);

const amount = oneOf("longest_path", "completed_tickets");
const ofOwners = {
  stake: { name: isBonusName, points, amount },
  for_each_ticket: { name: isBonusName, points },
};
const isBonus = oneOfParts({ ...ofOwners, for_the_most: { name: isBonusName, points, amount }, big_cities: {} });
const technology = sparse({
  id: id(32),
  supply: whole(1, 100),
  cost: whole(1, 10),
  "opens_regions?": regions,
  "opens_lengths?": lengths,
  "opens_ferries?": isFlag,
  "substitute?": whole(0, 10),
  "discount?": whole(0, 10),
  "draws_three?": isFlag,
  "claims_taken?": isFlag,
  "claims?": whole(0, 4),
  "route_points?": points,
  "ferry_points?": points,
  "until_shuffle?": isFlag,
  "bonus?": oneOfParts(ofOwners),
});
const offered = { number: whole(1, 7), "share?": oneOf("ask_to_share") };

/**
 * Tests whether a value describes parts that are known here, with numbers within their bounds.
 * @type {(value: any) => value is Parts}
 */
export const isParts = /** @type {any} */ (sparse({
  team_size: whole(1, 3),
  board_features: list(0, 6, oneOf("map", "ferries", "tunnels", "long_tickets", "regions", "big_cities")),
  train_cards: sparse({ dealt: whole(1, 100), "locomotives_dealt?": count, "exchange_at?": count, "reshuffled?": isFlag }),
  set_up: list(1, 3, oneOfParts({
    long_tickets: { number: whole(1, 2) },
    first_tickets: { ...offered, keep: whole(0, 7), "reject?": oneOf("remove_tickets"), "shuffle_returned?": isFlag },
    holders: {},
  })),
  menu: list(1, 6, oneOfParts({
    draw_cards: { "second_optional?": isFlag, "to_holder?": isFlag },
    claim_route: { "open_tracks?": table(/^[1-6]$/, table(/^[23]$/, whole(1, 3))) },
    draw_tickets: { ...offered, "keep?": whole(0, 7) },
    share_tickets: {},
    build_station: { number: whole(1, 5), "points_left?": points },
    lay_cards: {},
  })),
  last_round: oneOfParts({ few_trains: { trains: count }, empty_pile: {} }),
  "start_of_turn?": list(0, 1, oneOf("send_cards")),
  "before_action?": list(0, 1, oneOfParts({
    buy_technology: {
      technologies: list(1, 16, technology),
      substitute: whole(2, 10),
      "home_regions?": regions,
      "home_lengths?": lengths,
      "overseas_regions?": regions,
    },
  })),
  "other_parts?": list(0, 1, oneOfParts({ rail_yards: { "halves?": table(/^[1-6]$/, whole(1, 2)), "open_stacks?": isFlag } })),
  "bonuses?": list(0, 8, isBonus),
  "tie_breaks?": list(0, 4, oneOf("completed_tickets", "longest_own_path", "fewest_stations", "bonus_cards")),
}));

/**
 * Returns what parts lack that would make a game (PARTS.md, Parts that go together); null if they make one.
 * @param {Parts} parts
 * @param {number} seats
 * @returns {string | null}
 */
export function lackOf(parts, seats) {
  const { team_size: teamSize, board_features: features, set_up, menu, before_action = [], other_parts = [] } = parts;
  const all = [...set_up, ...menu, ...before_action, ...other_parts];
  const has = (/** @type {string} */ name) => all.some(({ part }) => part === name);
  const hasMap = features.includes("map");
  const yards = [has("rail_yards"), has("lay_cards"), (parts.start_of_turn ?? []).includes("send_cards")];
  const isAlone = teamSize === 1;
  /** @type {[string, boolean][]} */
  const rules = [
    [`at most ${LONGEST} bytes`, canonical(parts).length <= LONGEST],
    ["each part once", new Set(all.map(({ part }) => part)).size === all.length],
    [`a team_size that divides ${seats} seats`, seats % teamSize === 0],
    ["first_tickets at the end of set_up", set_up[set_up.length - 1].part === "first_tickets"],
    ["no more tickets to keep than are offered", all.every(({ keep = 0, number = keep }) => keep <= number)],
    ["a substitute of 2 cards or more", technologiesOf(parts).every(({ substitute }) => substitute !== 1)],
    ["draw_cards", has("draw_cards")],
    ["claim_route with a map alone", has("claim_route") === hasMap],
    ["rail_yards, lay_cards and send_cards without a map alone", yards.every((each) => each === !hasMap)],
    ["empty_pile without a map", hasMap || parts.last_round.part === "empty_pile"],
    ["a map for teams", hasMap || isAlone],
    ["holders in teams alone", has("holders") === !isAlone],
    ["holders for what is put on them", has("holders") || !(has("share_tickets") || all.some(({ to_holder: toHolder }) => toHolder))],
    ["share_tickets with ask_to_share", has("share_tickets") || all.every(({ share }) => share === undefined)],
    ["long_tickets with remove_tickets", has("long_tickets") || all.every(({ reject }) => reject === undefined)],
    ["the board feature long_tickets for long_tickets", features.includes("long_tickets") || !has("long_tickets")],
    ["a map without teams for stations and technologies", (hasMap && isAlone) || !(has("build_station") || has("buy_technology"))],
    ["build_station with fewest_stations", has("build_station") || !(parts.tie_breaks ?? []).includes("fewest_stations")],
  ];
  return rules.find(([, holds]) => !holds)?.[0] ?? null;
}
