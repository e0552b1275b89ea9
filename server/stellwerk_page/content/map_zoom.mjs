// Zooming and panning of the map: buttons, wheel, fingers, keys.
//
// Law: nothing on the map is ever dimmed or left out. On a small screen names and digits grow against the tracks,
// so that they can be read; and on a wall, where styles ask for it with `--enlarge`.

import { placeAlong } from "./geometry.mjs";
import { html, short } from "./markup.mjs";

/** @typedef {import("./geometry.mjs").Frame} Frame */
/** @typedef {import("./geometry.mjs").Point} Point */

const MOST = 8; // times the whole map
const STEP = 1.4;
const PAN = 0.15; // of what is seen
const READABLE = 0.37; // pixels for a unit of the layout: below, a map begins with a part of itself
const NEARLY = 1.22; // times too small: the whole map is worth more
const NAME = 10.5; // pixels, the least size of a name's letters, if there is room for them
const SMALL = 15; // the sizes for which the layout has placed the names
const LARGE = 24;
const DIGIT = 9; // the same of a seat's digit on a track
const STILL = 4; // pixels of a hand that only clicks

/**
 * @param {HTMLElement} element
 * @param {SVGElement} picture
 * @param {Frame} frame
 * @param {Frame} wide the one with room for large names
 * @param {() => void} onResize
 */
export function addZoom(element, picture, frame, wide, onResize) {
  let [left, top, right, bottom] = frame;
  let [width, height] = [right - left, bottom - top];
  let zoom = 1;
  let center = { x: (left + right) / 2, y: (top + bottom) / 2 };
  let isOwn = false; // the visitor has chosen what is seen
  let names = 1;
  let isLarge = false;
  let dragged = false;
  /** @type {Map<number, Point>} */
  const pointers = new Map();
  const size = { width: 0, height: 0 };

  const tools = html(
    "div",
    { class: "map-tools", role: "group", "aria-label": "Zoom of the map" },
    button("+", "Zoom in (+)", () => zoomBy(STEP)),
    button("\u2212", "Zoom out (-)", () => zoomBy(1 / STEP)),
    button("\u2922", "Whole map (0)", whole),
  );
  element.append(tools);

  /** Pixels for a unit of the layout when all of it is seen. */
  const fit = () => Math.min(size.width / width, size.height / height) || 1;

  function draw() {
    const seen = { width: width / zoom, height: height / zoom };
    picture.setAttribute(
      "viewBox",
      [center.x - seen.width / 2, center.y - seen.height / 2, seen.width, seen.height].map(short).join(" "),
    );
    const scale = fit() * zoom;
    const wanted = Math.max(SMALL * names, NAME / scale);
    element.style.setProperty("--names", String(Math.min(wanted / (isLarge ? LARGE : SMALL), 1.25)));
    element.style.setProperty("--digits", String(Math.min(Math.max(names, DIGIT / (12 * scale)), 1.5)));
    element.classList.toggle("zoomed", zoom > 1);
    // Until somebody has zoomed, a finger that goes up or down on the map moves the page.
    element.classList.toggle("held", isOwn && size.height / scale < height);
  }

  /**
   * @param {number} factor
   * @param {Point} [at] what stays where it is
   */
  function zoomBy(factor, at = center) {
    const before = zoom;
    zoom = Math.min(Math.max(zoom * factor, 1), MOST);
    const part = 1 - before / zoom;
    isOwn = true;
    setLarge();
    move({ x: center.x + (at.x - center.x) * part, y: center.y + (at.y - center.y) * part });
    return zoom !== before;
  }

  /** @param {Point} to */
  function move(to) {
    // What is seen stays on the map, as far as it is smaller than the map.
    const [halfWidth, halfHeight] = [size.width / fit() / zoom / 2, size.height / fit() / zoom / 2];
    center = {
      x: halfWidth * 2 >= width ? (left + right) / 2 : Math.min(Math.max(to.x, left + halfWidth), right - halfWidth),
      y: halfHeight * 2 >= height ? (top + bottom) / 2 : Math.min(Math.max(to.y, top + halfHeight), bottom - halfHeight),
    };
    draw();
  }

  function whole() {
    zoom = 1;
    isOwn = true;
    setLarge();
    move(center);
  }

  /**
   * Moves the map if a line is not seen.
   * @param {Point[]} line
   */
  function follow(line) {
    const [begin, end] = [line[0], line.at(-1)];
    if (zoom <= 1 || begin === undefined || end === undefined) return;
    const [halfWidth, halfHeight] = [(0.94 * size.width) / fit() / zoom / 2, (0.94 * size.height) / fit() / zoom / 2];
    const isSeen = (/** @type {Point} */ { x, y }) => Math.abs(x - center.x) < halfWidth && Math.abs(y - center.y) < halfHeight;
    if (!isSeen(begin) || !isSeen(end)) move(placeAlong(line, 0.5));
  }

  /** @param {{clientX: number, clientY: number}} event @returns {Point} */
  function placeOf({ clientX, clientY }) {
    const box = picture.getBoundingClientRect();
    const scale = fit() * zoom;
    return {
      x: center.x + (clientX - box.left - box.width / 2) / scale,
      y: center.y + (clientY - box.top - box.height / 2) / scale,
    };
  }

  function resize() {
    const box = picture.getBoundingClientRect();
    [size.width, size.height] = [box.width, box.height];
    names = Number(getComputedStyle(element).getPropertyValue("--enlarge")) || 1;
    [left, top, right, bottom] = frame;
    [width, height] = [right - left, bottom - top];
    if (!isOwn) zoom = READABLE / fit() > NEARLY ? Math.min(READABLE / fit(), MOST) : 1;
    setLarge();
    move(center);
    onResize();
  }

  /** Takes the names that have room at this size. */
  function setLarge() {
    isLarge = Math.max(SMALL * names, NAME / (fit() * zoom)) > SMALL * 1.25;
    [left, top, right, bottom] = isLarge ? wide : frame;
    [width, height] = [right - left, bottom - top];
    element.classList.toggle("large", isLarge);
  }

  new ResizeObserver(resize).observe(element);

  picture.addEventListener(
    "wheel",
    (event) => {
      // At the end of the zoom the wheel moves the page again.
      if (zoomBy(Math.exp(-event.deltaY / 400), placeOf(event))) event.preventDefault();
    },
    { passive: false },
  );
  picture.addEventListener("pointerdown", (event) => {
    if (pointers.size === 0) dragged = false;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  picture.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined || event.buttons === 0) return;
    const now = { x: event.clientX, y: event.clientY };
    if (!dragged && Math.hypot(now.x - before.x, now.y - before.y) < STILL) return;
    if (!dragged) picture.setPointerCapture(event.pointerId);
    dragged = true;
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      const [wide, narrow] = [now, before].map(({ x, y }) => Math.hypot(x - other.x, y - other.y));
      const middle = { clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 };
      if (wide && narrow) zoomBy(wide / narrow, placeOf(middle));
    } else {
      const scale = fit() * zoom;
      isOwn = true;
      move({ x: center.x - (now.x - before.x) / scale, y: center.y - (now.y - before.y) / scale });
    }
    pointers.set(event.pointerId, now);
  });
  for (const name of /** @type {const} */ (["pointerup", "pointercancel", "pointerleave"])) {
    picture.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }

  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = event.shiftKey ? DIRECTIONS[event.key] : undefined;
    if (event.key === "+" || event.key === "=") zoomBy(STEP);
    else if (event.key === "-") zoomBy(1 / STEP);
    else if (event.key === "0") whole();
    else if (direction !== undefined) {
      const [x, y] = direction;
      move({ x: center.x + (x * PAN * width) / zoom, y: center.y + (y * PAN * height) / zoom });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    follow,
    whole,
    /** Pixels for a unit of the layout. */
    scale: () => fit() * zoom,
    /** Whether the last press of the pointer has moved the map. */
    hasDragged: () => dragged,
  };
}

/** @type {Record<string, [number, number]>} */
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @param {string} sign
 * @param {string} words
 * @param {() => void} press
 */
function button(sign, words, press) {
  const made = html("button", { type: "button", "aria-label": words, title: words }, sign);
  made.addEventListener("click", press);
  return made;
}
