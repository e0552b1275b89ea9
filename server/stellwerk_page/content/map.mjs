// The map: the board as its layout has it, and on it what the players have.
//
// Law: the map shows the view that it is given and nothing else; only what differs from the view before is drawn
// again. Nothing but the last move moves, and nothing at all for those who have asked their system for that.

import { closedPath, distance, inSpace, laneOf, largeFrame, openPath, pointsOf, readable, tracksOf } from "./geometry.mjs";
import { short, svg, html } from "./markup.mjs";
import { LOCOMOTIVE, cardShape } from "./card_faces.mjs";
import { LETTERS, applySeat, seatDigit, spaceStyle, stripesPath, stripesWidth, usePaints } from "./paints.mjs";
import { closedTracks, sideBySide } from "./paths.mjs";
import { createLegend } from "./map_legend.mjs";
import { addZoom } from "./map_zoom.mjs";

/** @typedef {import("./types.mjs").Board} Board */
/** @typedef {import("./types.mjs").Event} Event */
/** @typedef {import("./types.mjs").Player} Player */
/** @typedef {import("./types.mjs").Route} Route */
/** @typedef {import("./types.mjs").View} View */
/** @typedef {import("./geometry.mjs").Layout} Layout */
/** @typedef {import("./geometry.mjs").Point} Point */
/** @typedef {import("./geometry.mjs").Track} Track */
/** @typedef {{route: string, seat: number}} Claim */
/**
 * `choose`: clicked, or Enter was pressed. `look`: under the pointer, or focused; null when no more.
 * @typedef {(route: string | null, how: "choose" | "look") => void} RouteCallback
 */
/**
 * Only with `animate` the last move moves; `trail` has the claims of the last round, the oldest first.
 * @typedef {{events?: Event[], trail?: Claim[], animate?: boolean}} Shown
 */

const RUN_MS = 200;
const CARD = 0.95; // pixels for a unit of turned cards, if there is room
const DOT = 9;
const REGIONS = ["#f6e7b4", "#f3c6c0", "#c9e2c4", "#cbd9f0", "#e3cfea", "#fbd7ae", "#bfe3e0", "#dedede"];

/**
 * @param {Board} board with routes
 * @param {Layout} layout
 * @param {Player[]} players
 * @param {import("./paths.mjs").Limits} limits
 */
export function createMap(board, layout, players, limits) {
  const routes = new Map((board.routes ?? []).map((route) => [route.id, route]));
  const cities = new Map(board.cities.map((city) => [city.id, city]));
  const tracks = tracksOf(layout);
  const seatName = new Map(players.map(({ seat, name }) => [seat, name]));
  /** @type {Map<string, string>} what each track shows */
  const drawn = new Map();
  /** @type {RouteCallback[]} */
  const callbacks = [];
  let placed = "";
  /** @type {{events: Event[], view: View} | null} */
  let turned = null;

  const layers = {
    grounds: svg("g", { class: "grounds" }),
    halos: svg("g", { class: "halos" }),
    tracks: svg("g", { class: "tracks" }),
    cities: svg("g", { class: "cities" }),
    stations: svg("g", { class: "stations" }),
    names: svg("g", { class: "names" }),
    cards: svg("g", { class: "turned" }),
  };
  for (const [name, layer] of Object.entries(layers)) if (name !== "tracks") layer.setAttribute("aria-hidden", "true");
  const [left, top, right, bottom] = layout.frame;
  const picture = svg(
    "svg",
    {
      class: "map-picture",
      viewBox: `${left} ${top} ${right - left} ${bottom - top}`,
      role: "group",
      "aria-label": `Map: ${board.title}`,
    },
    ...Object.values(layers),
  );
  const element = html("div", { class: "map" });
  element.style.setProperty("--aspect", String((right - left) / (bottom - top)));
  element.append(picture);
  usePaints(element, players);

  layers.grounds.append(...groundsOf(layout), ...groupLines(board, layout));
  const besides = new Map(
    sideBySide(board).flatMap((group) =>
      group.map(({ id, length }, at) => [id, (at - (group.length - 1) / 2) * (length > 1 ? 26 : 14) * directionOf(tracks, id)]),
    ),
  );
  /** @type {Map<string, {group: SVGElement, wagons: SVGElement}>} */
  const groups = new Map();
  for (const route of routes.values()) {
    const track = tracks.get(route.id);
    if (track === undefined) continue;
    const wagons = svg("g", { class: "wagons" });
    const group = svg(
      "g",
      { class: "track", role: "button", tabindex: -1, "data-route": route.id, "data-color": route.color },
      ...spacesOf(route, track),
      wagons,
      svg("path", { class: "reach", d: openPath(track.line) }),
    );
    groups.set(route.id, { group, wagons });
    layers.tracks.append(group);
    tell(route, []);
  }
  const regions = [...new Set(board.cities.flatMap(({ region }) => (region === undefined ? [] : [region])))].sort();
  for (const city of board.cities) {
    const [x, y] = layout.cities[city.id] ?? [0, 0];
    layers.cities.append(cityDot(x, y, city.junction === true, regions.indexOf(city.region ?? ""), city.id));
    const name = layout.names[city.id];
    if (name !== undefined) layers.names.append(cityName(city.name, name, [x, y], "small"));
    const large = layout.large_names[city.id];
    if (large !== undefined) layers.names.append(cityName(city.name, large, [x, y], "large"));
  }
  element.append(createLegend(board, new Map(regions.map((region, at) => [region, REGIONS[at % REGIONS.length] ?? ""])), layout.made_up === 1));
  const zoom = addZoom(element, picture, layout.frame, largeFrame(layout), () => drawTurned());
  listen();

  /**
   * Shows a view.
   * @param {View} view
   * @param {Shown} [shown]
   */
  function show(view, { events = [], trail = [], animate = false } = {}) {
    const owners = ownersOf(view);
    const closed = closedTracks(board, view, limits);
    const claim = events.find((event) => event.type === "route_claimed");
    for (const [id, route] of routes) {
      const seats = owners.get(id) ?? [];
      const state = `${seats.join()}${closed.has(id) ? "x" : ""}`;
      if (drawn.get(id) === state) continue;
      drawn.set(id, state);
      paint(route, seats, closed.has(id));
    }
    layers.tracks.querySelector(".last")?.classList.remove("last");
    const last = claim?.route === undefined ? undefined : groups.get(claim.route);
    last?.group.classList.add("last");
    drawTrail(trail, claim?.route);
    drawStations(view);
    turned = { events, view };
    drawTurned();
    if (claim?.route !== undefined && animate) run(claim.route, claim.seat ?? 0);
    if (claim?.route !== undefined) zoom.follow(tracks.get(claim.route)?.line ?? []);
  }

  /**
   * Lights up routes and cities, such as the way of a ticket. Everything else stays as it is.
   * @param {Iterable<string>} lit the ids of routes; none puts the light out
   * @param {Iterable<string>} [places] the ids of cities
   */
  function light(lit, places = []) {
    picture.querySelectorAll(".light").forEach((each) => each.remove());
    /** @type {SVGElement[]} */
    const rims = [];
    /** @type {SVGElement[]} */
    const lights = [];
    for (const id of lit) {
      const track = tracks.get(id);
      if (track === undefined) continue;
      const isOwned = (drawn.get(id) ?? "").replace("x", "") !== "";
      const d = openPath(track.line);
      const open = isOwned ? "" : " open";
      rims.push(svg("path", { class: `light rim${open}`, d }));
      lights.push(svg("path", { class: `light${open}`, d }));
    }
    layers.halos.append(...rims, ...lights);
    for (const id of places) {
      const place = layout.cities[id];
      if (place === undefined) continue;
      const [cx, cy] = place;
      layers.cities.prepend(
        svg("circle", { class: "light rim", cx, cy, r: DOT + 8 }),
        svg("circle", { class: "light", cx, cy, r: DOT + 8 }),
      );
    }
  }

  /** @param {RouteCallback} callback */
  function onRoute(callback) {
    callbacks.push(callback);
  }

  /**
   * Marks the route that is chosen; null for none.
   * @param {string | null} id
   */
  function choose(id) {
    layers.tracks.querySelector(".chosen")?.classList.remove("chosen");
    if (id !== null) groups.get(id)?.group.classList.add("chosen");
  }

  // -- tracks ----------------------------------------------------------------------------------------

  /**
   * @param {Route} route
   * @param {number[]} seats
   * @param {boolean} isClosed
   */
  function paint(route, seats, isClosed) {
    const track = tracks.get(route.id);
    const group = groups.get(route.id);
    if (track === undefined || group === undefined) return;
    group.group.classList.toggle("owned", seats.length > 0);
    group.group.classList.toggle("closed", isClosed);
    group.wagons.replaceChildren(...seats.flatMap((seat, lane) => wagonsOf(track, seat, lane, seats.length, besides.get(route.id) ?? 0)));
    if (isClosed && seats.length === 0) group.wagons.append(svg("path", { class: "bar", d: openPath(track.line) }));
    tell(route, seats, isClosed);
  }

  /**
   * Gives a track its words.
   * @param {Route} route
   * @param {number[]} seats
   * @param {boolean} [isClosed]
   */
  function tell(route, seats, isClosed = false) {
    const whose = seats.map((seat) => `seat ${seat}, ${seatName.get(seat) ?? ""}`).join(" and ");
    const words = [
      `${cities.get(route.a)?.name} to ${cities.get(route.b)?.name}`,
      `${route.length} ${route.color}`,
      ...(route.locomotives ? [`ferry with ${route.locomotives} ${route.locomotives > 1 ? "locomotives" : "locomotive"}`] : []),
      ...(route.tunnel ? [`tunnel, ${route.tunnel} cards are revealed`] : []),
      whose ? `claimed by ${whose}` : isClosed ? "closed" : "open",
    ];
    groups.get(route.id)?.group.setAttribute("aria-label", words.join(", "));
  }

  /**
   * Lets the wagons of a claim run along the track.
   * @param {string} id
   * @param {number} seat
   */
  function run(id, seat) {
    const track = tracks.get(id);
    if (track === undefined || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const boxes = groups.get(id)?.wagons.querySelectorAll(`.wagon-of-${seat}`) ?? [];
    boxes.forEach((box, index) => {
      const end = track.spaces[index]?.at;
      if (end === undefined) return;
      const way = [track.line[0] ?? end, ...track.spaces.slice(0, index + 1).map((space) => space.at)];
      box.animate(
        way.map(({ x, y }) => ({ transform: `translate(${x - end.x}px, ${y - end.y}px)` })),
        { duration: RUN_MS, easing: "ease-out" },
      );
    });
  }

  // -- what lies around tracks -----------------------------------------------------------------------

  /**
   * @param {Claim[]} trail
   * @param {string | undefined} last
   */
  function drawTrail(trail, last) {
    layers.halos.querySelectorAll(".trail").forEach((each) => each.remove());
    for (const { route, seat } of trail) {
      const track = tracks.get(route);
      if (track === undefined || route === last) continue;
      const halo = svg("path", { class: "trail", d: openPath(track.line) });
      applySeat(halo, seat);
      layers.halos.prepend(halo);
    }
    const track = last === undefined ? undefined : tracks.get(last);
    if (track !== undefined) layers.halos.prepend(svg("path", { class: "trail newest", d: openPath(track.line) }));
  }

  /** @param {View} view */
  function drawStations(view) {
    const stations = view.players.flatMap(({ seat, stations = [] }) => stations.map((city) => ({ seat, city })));
    const state = JSON.stringify(stations);
    if (state === placed) return;
    placed = state;
    layers.stations.replaceChildren(
      ...stations.map(({ seat, city }) => {
        const [x, y] = layout.cities[city] ?? [0, 0];
        const station = svg(
          "g",
          { class: "station", transform: `translate(${x} ${y})`, "data-city": city },
          svg("path", { d: "M-11 11V-4L0-14L11-4V11Z" }),
          svg("text", { y: 7.5, "font-size": 14 }, String(seat)),
        );
        applySeat(station, seat);
        return station;
      }),
    );
  }

  /**
   * Lays the cards that a tunnel has turned beside its track, as large as the map needs them to be.
   */
  function drawTurned() {
    layers.cards.replaceChildren();
    if (turned === null) return;
    const { events, view } = turned;
    const attempt = [...events].reverse().find(({ type, revealed }) => TUNNEL_EVENTS.has(type) && revealed !== undefined);
    const route = attempt?.route;
    const track = route === undefined ? undefined : tracks.get(route);
    if (attempt === undefined || track === undefined) return;
    const cards = Object.entries(attempt.revealed ?? {}).flatMap(([card, count]) => Array(count).fill(card));
    if (cards.length === 0) return;
    const laid = new Set([...Object.keys(attempt.cards ?? {}), ...Object.keys(attempt.holder_cards ?? {}), "locomotive"]);
    const isOver = attempt.type === "tunnel_abandoned";
    const width = 12 + cards.length * 27;
    const size = Math.min(Math.max(CARD / zoom.scale(), 1), 2);
    const at = aside(track, width * size, 60 * size, layout, tracks);
    const words = isOver ? "given up" : attempt.type === "tunnel_tried" ? `${attempt.extra} more` : "through";
    const panel = svg(
      "g",
      { class: `panel ${attempt.type}`, transform: `translate(${short(at.x)} ${short(at.y)}) scale(${size.toFixed(2)})` },
      svg("path", { class: "leader", d: `M0 0L${short((track.at.x - at.x) / size)} ${short((track.at.y - at.y) / size)}` }),
      svg("rect", { x: -width / 2, y: -30, width, height: 60, rx: 6 }),
      ...cards.map((card, index) => {
        const face = svg("g", { transform: `translate(${19.5 + index * 27 - width / 2} -8) scale(0.6)` }, cardShape(card));
        if (laid.has(card)) face.classList.add("counts");
        return face;
      }),
      svg("text", { y: 25, "font-size": 13 }, words),
    );
    applySeat(panel, attempt.seat ?? 0);
    layers.cards.append(panel);
    if (attempt.type === "tunnel_tried" && view.pending?.type === "pay_tunnel") {
      const ghost = svg("path", { class: "ghost", d: track.spaces.map(({ outline }) => closedPath(outline)).join("") });
      applySeat(ghost, attempt.seat ?? 0);
      layers.cards.prepend(ghost);
    }
  }

  // -- pointer and keys ------------------------------------------------------------------------------

  function listen() {
    /** @type {string | null} */
    let looked = null;
    let isPressed = false;
    let isByKeys = false; // a track was focused, and not by the pointer
    const ids = [...groups.keys()];
    let current = ids[0] ?? "";
    groups.get(current)?.group.setAttribute("tabindex", "0");
    const say = (/** @type {string | null} */ id, /** @type {"choose" | "look"} */ how) => {
      if (how === "look" && id === looked) return;
      if (how === "look") looked = id;
      for (const callback of callbacks) callback(id, how);
    };
    const routeAt = (/** @type {globalThis.Event} */ event) => {
      const target = event.target instanceof Element ? event.target.closest("[data-route]") : null;
      return target?.getAttribute("data-route") ?? null;
    };
    const focus = (/** @type {string} */ id) => {
      groups.get(current)?.group.setAttribute("tabindex", "-1");
      current = id;
      groups.get(id)?.group.setAttribute("tabindex", "0");
    };
    layers.tracks.addEventListener("pointerover", (event) => say(routeAt(event), "look"));
    layers.tracks.addEventListener("pointerleave", () => say(null, "look"));
    picture.addEventListener("pointerdown", () => (isPressed = true));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) picture.addEventListener(name, () => (isPressed = false));
    // Not on the drawing: a part of an SVG that listens for the focus can be focused itself.
    element.addEventListener("focusin", (event) => {
      isByKeys = !isPressed;
      const id = routeAt(event);
      if (id === null) return;
      focus(id);
      zoom.follow(tracks.get(id)?.line ?? []);
      say(id, "look");
    });
    element.addEventListener("focusout", () => say(null, "look"));
    layers.tracks.addEventListener("click", (event) => {
      if (!zoom.hasDragged()) say(routeAt(event), "choose");
    });
    picture.addEventListener("keydown", (event) => {
      const id = routeAt(event);
      if (id === null || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      // The arrows belong to the time of the match, unless somebody came to the tracks by the keyboard.
      const next = isByKeys ? neighbor(id, event.key) : null;
      if (event.key === "Enter" || event.key === " ") say(id, "choose");
      else if (next !== null) groups.get(next)?.group.focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /**
   * Returns the track that lies next in the direction of an arrow.
   * @param {string} id
   * @param {string} key
   */
  function neighbor(id, key) {
    const direction = ARROWS[key];
    const here = tracks.get(id)?.at;
    if (direction === undefined || here === undefined) return null;
    let nearest = null;
    let least = Infinity;
    for (const [other, { at }] of tracks) {
      const ahead = (at.x - here.x) * direction[0] + (at.y - here.y) * direction[1];
      const aside = Math.abs((at.x - here.x) * direction[1]) + Math.abs((at.y - here.y) * direction[0]);
      const cost = distance(here, at) + 1.5 * aside;
      if (other !== id && ahead > 1 && cost < least) [nearest, least] = [other, cost];
    }
    return nearest;
  }

  return { element, show, light, onRoute, choose, zoom };
}

const TUNNEL_EVENTS = new Set(["tunnel_tried", "tunnel_abandoned", "route_claimed"]);
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Returns who has claimed each route: with Right of Way several seats can hold one (UK-21).
 * @param {View} view
 */
export function ownersOf(view) {
  /** @type {Map<string, number[]>} */
  const owners = new Map();
  for (const { seat, routes = [] } of view.players) {
    for (const route of routes) owners.set(route, [...(owners.get(route) ?? []), seat]);
  }
  return owners;
}

// -- the board -----------------------------------------------------------------------------------------

/** @param {Layout} layout */
function groundsOf({ grounds }) {
  return grounds.map(([kind, width, points]) => svg("path", { class: kind, d: openPath(pointsOf(points)), "stroke-width": width }));
}

/**
 * Ties the cities together that tickets name as one place.
 * @param {Board} board
 * @param {Layout} layout
 */
function groupLines(board, layout) {
  return Object.values(board.city_groups ?? {}).flatMap((members) => {
    const places = members.flatMap((city) => {
      const place = layout.cities[city];
      return place === undefined ? [] : [{ x: place[0], y: place[1] }];
    });
    return places.length > 1 ? [svg("path", { class: "group", d: openPath(places) })] : [];
  });
}

/**
 * @param {Route} route
 * @param {Track} track
 */
function spacesOf(route, track) {
  const letter = LETTERS[route.color] ?? "";
  const style = spaceStyle(route.color);
  const covered = track.marks.map(({ at }) => at);
  const free = track.spaces.filter(({ at }) => covered.every((place) => distance(place, at) > 14));
  const apart = Math.max(1, Math.round(free.length / 3));
  const lettered = free.filter((_, index) => index % apart === Math.floor((free.length - 1) / 2) % apart);
  return [
    svg("path", {
      class: "spaces",
      d: track.spaces.map(({ outline }) => closedPath(outline)).join(""),
      style,
    }),
    ...(letter ? lettered : []).map(({ at, angle }) =>
      svg(
        "text",
        {
          class: "letter",
          y: 3.6,
          transform: `translate(${short(at.x)} ${short(at.y)}) rotate(${short(readable(angle))})`,
          style,
        },
        letter,
      ),
    ),
    ...track.marks.map(({ kind, at }) => badge(kind, at, route)),
  ];
}

/**
 * @param {string} kind
 * @param {Point} at
 * @param {Route} route
 */
function badge(kind, at, route) {
  const inner =
    kind === "locomotive"
      ? svg("path", { d: LOCOMOTIVE, "fill-rule": "evenodd" })
      : svg("text", { y: 4.5, "font-size": 13 }, kind === "tunnel" ? String(route.tunnel) : "?");
  const transform = `translate(${short(at.x)} ${short(at.y)})`;
  return svg("g", { class: `badge ${kind}`, transform }, svg("circle", { r: 9 }), inner);
}

/**
 * Parallel tracks can be recorded from either end.
 * @param {Map<string, Track>} tracks
 * @param {string} id
 */
function directionOf(tracks, id) {
  const line = tracks.get(id)?.line ?? [];
  const [begin, end] = [line[0], line.at(-1)];
  return begin === undefined || end === undefined || end.x - begin.x + (end.y - begin.y) / 1000 >= 0 ? 1 : -1;
}

/**
 * @param {Track} track
 * @param {number} seat
 * @param {number} lane
 * @param {number} lanes
 * @param {number} beside how far from the middle the digit is, so that those of parallel tracks do not touch
 */
function wagonsOf(track, seat, lane, lanes, beside) {
  const boxes = track.spaces.map((space) => {
    const box = svg("g", { class: `wagon-of-${seat}` }, svg("path", { class: "wagon", d: closedPath(laneOf(space, lane, lanes)) }));
    if (lanes === 1) {
      const d = stripesPath(seat, space.half, inSpace(space));
      box.append(svg("path", { class: "stripes", d, "stroke-width": stripesWidth(seat) }));
    }
    applySeat(box, seat);
    return box;
  });
  const middle = track.spaces[Math.floor((track.spaces.length - 1) / 2)];
  if (middle === undefined) return boxes;
  const even = track.spaces.length % 2 === 0;
  const { x, y } = even ? track.at : middle.at;
  const along = (lane - (lanes - 1) / 2) * 18 + beside;
  const angle = middle.angle;
  return [...boxes, seatDigit(seat, x + along * Math.cos(angle), y + along * Math.sin(angle))];
}

/**
 * @param {number} x
 * @param {number} y
 * @param {boolean} isJunction
 * @param {number} region
 * @param {string} id
 */
function cityDot(x, y, isJunction, region, id) {
  const transform = `translate(${x} ${y})`;
  if (isJunction) return svg("path", { class: "junction", transform, d: "M0-8L8 0L0 8L-8 0Z", "data-city": id });
  const paint = region < 0 ? undefined : `--region: ${REGIONS[region % REGIONS.length]}`;
  return svg("circle", { class: "city", transform, r: DOT, style: paint, "data-city": id });
}

/**
 * Writes a name. It grows from the point of its box that is nearest to its city.
 * @param {string} text
 * @param {import("./geometry.mjs").Name} name
 * @param {[number, number]} place
 * @param {"small" | "large"} size
 */
function cityName(text, [x, y, anchor, left, top, right, bottom], [cityX, cityY], size) {
  const origin = [Math.min(Math.max(cityX, left), right), Math.min(Math.max(cityY, top), bottom)];
  const style = `transform-origin: ${origin.map((side) => `${short(side)}px`).join(" ")}`;
  return svg("text", { class: size, x, y, "text-anchor": anchor, style }, text);
}

/**
 * Returns where a panel beside a track covers least of names, cities and tracks.
 * @param {Track} track
 * @param {number} width
 * @param {number} height
 * @param {Layout} layout
 * @param {Map<string, Track>} tracks
 * @returns {Point}
 */
function aside(track, width, height, layout, tracks) {
  const [left, top, right, bottom] = layout.frame;
  const spaces = [...tracks.values()].flatMap((each) => each.spaces.map(({ at }) => at));
  const names = Object.values(layout.names);
  let best = track.at;
  let least = Infinity;
  for (let turn = 0; turn < 32; turn++) {
    const away = turn < 16 ? 22 : 60;
    const [cos, sin] = [Math.cos((turn * Math.PI) / 8), Math.sin((turn * Math.PI) / 8)];
    const x = track.at.x + cos * (width / 2 + away);
    const y = track.at.y + sin * (height / 2 + away);
    const covers = (/** @type {Point} */ point, /** @type {number} */ room) =>
      Math.abs(point.x - x) < width / 2 + room && Math.abs(point.y - y) < height / 2 + room;
    const isOut = x - width / 2 < left || x + width / 2 > right || y - height / 2 < top || y + height / 2 > bottom;
    const cost =
      (isOut ? 1000 : 0) +
      (turn < 16 ? 0 : 2) +
      spaces.filter((at) => covers(at, 6)).length +
      5 * Object.values(layout.cities).filter(([cityX, cityY]) => covers({ x: cityX, y: cityY }, 10)).length +
      6 * names.filter(([, , , l, t, r, b]) => l < x + width / 2 && r > x - width / 2 && t < y + height / 2 && b > y - height / 2).length +
      20 * track.spaces.filter(({ at }) => covers(at, 6)).length;
    if (cost < least) [best, least] = [{ x, y }, cost];
  }
  return best;
}
