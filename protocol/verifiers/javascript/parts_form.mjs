// The form and the bounds of the parts in a header or a `start` (PARTS.md).

import { canonical } from "./canonical.mjs";
import { id, isFlag, list, oneOf, record, table, whole } from "./forms.mjs";

/** @typedef {import("./forms.mjs").Form} Form */
/** @typedef {import("./forms.mjs").Test} Test */

const LONGEST = 8000; // characters
const count = whole(0, 100);
const points = whole(-200, 200);
const regions = list(0, 8, id(32));
const lengths = list(0, 12, whole(1, 12));
/** @type {Test} */
const isBonusName = (value) => typeof value === "string" && value.length <= 64 && /^[a-z0-9][a-z0-9_:]*$/.test(value);

/** @type {(forms: Record<string, Form>) => Test} */
const oneOfParts = (forms) => (value) =>
  Object.hasOwn(forms, value?.part) && record({ part: oneOf(value.part), ...forms[value.part] })(value);

const amount = oneOf("longest_path", "completed_tickets");
const isBonus = oneOfParts({
  for_the_most: { name: isBonusName, points, amount },
  stake: { name: isBonusName, points, amount },
  for_each_ticket: { name: isBonusName, points },
  big_cities: {},
});
const technology = record({
  id: id(32),
  supply: count,
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
  "bonus?": isBonus,
});
const offered = { number: whole(1, 7), "share?": oneOf("ask_to_share") };

/**
 * Tests whether a value describes the parts of a game: each part once, except bonuses.
 * @param {any} value
 * @returns {value is import("./games.mjs").Parts}
 */
export function isParts(value) {
  if (!hasForm(value) || canonical(value).length > LONGEST) return false;
  const { set_up, menu, before_action = [], other_parts = [] } = value;
  const names = [...set_up, ...menu, ...before_action, ...other_parts].map(({ part }) => part);
  return new Set(names).size === names.length;
}

const hasForm = record({
  team_size: whole(1, 3),
  board_features: list(0, 6, oneOf("map", "ferries", "tunnels", "long_tickets", "regions", "big_cities")),
  train_cards: record({ dealt: count, "locomotives_dealt?": count, "exchange_at?": count, "reshuffled?": isFlag }),
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
      substitute: whole(1, 10),
      "home_regions?": regions,
      "home_lengths?": lengths,
      "overseas_regions?": regions,
    },
  })),
  "other_parts?": list(0, 1, oneOfParts({ rail_yards: { "halves?": table(/^[1-6]$/, whole(1, 2)), "open_stacks?": isFlag } })),
  "bonuses?": list(0, 8, isBonus),
  "tie_breaks?": list(0, 4, oneOf("completed_tickets", "longest_own_path", "fewest_stations", "bonus_cards")),
});
