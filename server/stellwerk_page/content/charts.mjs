// Charts over the turns of a match: a line for each seat, with its color, its dashes and its digit.
//
// Law: what a chart shows is there as a table, too. With `hideLater` a chart shows nothing that comes after the
// position, not even by its scale.

import { html, short, svg } from "./markup.mjs";
import { DASHES, applySeat, seatDigit, seatMark, usePaints } from "./paints.mjs";

/** @typedef {import("./history.mjs").Chart} Chart */
/** @typedef {import("./history.mjs").Series} Series */

const WIDTH = 420;
const HEIGHT = 170;
const LEFT = 34;
const RIGHT = 24;
const TOP = 10;
const BOTTOM = 22;
const APART = 15; // between the digits at the ends of lines

/**
 * @param {Series} series
 * @param {{onTurn?: (n: number) => void}} [options] `onTurn`: somebody has clicked on a position
 */
export function createCharts(series, { onTurn = () => {} } = {}) {
  const element = html("div", { class: "charts" });
  usePaints(element, series.players);
  const figures = series.charts.map((chart) => figureOf(series, chart, onTurn));
  element.append(...figures.map((figure) => figure.element), tableOf(series));
  return {
    element,
    /**
     * @param {number} n
     * @param {{hideLater?: boolean}} [options]
     */
    show(n, { hideLater = false } = {}) {
      element.classList.toggle("hide-later", hideLater);
      for (const figure of figures) figure.show(n, hideLater);
    },
  };
}

/**
 * @param {Series} series
 * @param {Chart} chart
 * @param {(n: number) => void} onTurn
 */
function figureOf(series, chart, onTurn) {
  const { players, positions } = series;
  const last = positions.at(-1) ?? 0;
  const toX = (/** @type {number} */ n) => LEFT + ((WIDTH - LEFT - RIGHT) * n) / Math.max(last, 1);
  const plot = svg("g");
  const cursor = svg("path", { class: "cursor", d: "" });
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${chart.title} over the turns; the table below has the numbers` },
    plot,
    cursor,
  );
  const numbers = players.map(() => html("b"));
  const legend = html(
    "ul",
    { class: "legend" },
    ...players.map(({ seat, name }, index) => html("li", {}, seatMark(seat), ` ${name} `, numbers[index] ?? "")),
  );
  const note = chart.note === undefined ? [] : [html("span", { class: "chart-note" }, ` (${chart.note})`)];
  const element = html("figure", { class: "chart", "data-chart": chart.id }, html("figcaption", {}, chart.title, ...note), picture, legend);
  let drawn = -1;

  /** @param {number} count how many positions are drawn */
  function draw(count) {
    if (count === drawn) return;
    drawn = count;
    const most = Math.max(1, ...chart.values.flatMap((values) => values.slice(0, count).map((value) => value ?? 0)));
    const least = Math.min(0, ...chart.values.flatMap((values) => values.slice(0, count).map((value) => value ?? 0)));
    const ticks = ticksTo(least, most);
    const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
    const toY = (/** @type {number} */ value) => TOP + ((HEIGHT - TOP - BOTTOM) * (high - value)) / (high - low);
    /** @type {{seat: number, x: number, y: number}[]} */
    const ends = [];
    /** @type {SVGElement[]} */
    const lines = [];
    for (const { seat } of players) {
      const points = (chart.values[seat] ?? [])
        .slice(0, count)
        .flatMap((value, index) => (value === null ? [] : [[toX(positions[index] ?? 0), toY(value)]]));
      const d = points.map((point, index) => `${index > 0 ? "L" : "M"}${point.map(short).join(" ")}`).join("");
      const line = svg("path", { class: "line", d, "stroke-dasharray": DASHES[seat % DASHES.length] });
      applySeat(line, seat);
      lines.push(svg("path", { class: "casing", d }), line);
      const end = points.at(-1);
      if (end !== undefined) ends.push({ seat, x: end[0] ?? 0, y: end[1] ?? 0 });
    }
    plot.replaceChildren(
      ...ticks.flatMap((tick) => [
        svg("path", { class: "grid", d: `M${LEFT} ${short(toY(tick))}H${WIDTH - RIGHT}` }),
        svg("text", { x: LEFT - 6, y: short(toY(tick) + 4), "text-anchor": "end" }, String(tick)),
      ]),
      ...turnMarks(series).map(({ n, turn }) => svg("text", { x: short(toX(n)), y: HEIGHT - 5, "text-anchor": "middle" }, String(turn))),
      ...lines,
      ...spread(ends).map(({ seat, x, y }) => seatDigit(seat, x + 11, y)),
    );
  }

  /** @param {PointerEvent} event */
  function jump(event) {
    const box = picture.getBoundingClientRect();
    const part = ((event.clientX - box.left) / box.width) * WIDTH;
    const wanted = ((part - LEFT) / (WIDTH - LEFT - RIGHT)) * last;
    onTurn(positions.reduce((nearest, n) => (Math.abs(n - wanted) < Math.abs(nearest - wanted) ? n : nearest), 0));
  }
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    jump(event);
  });
  picture.addEventListener("pointermove", (event) => {
    if (event.buttons === 1) jump(event);
  });

  return {
    element,
    /**
     * @param {number} n
     * @param {boolean} hideLater
     */
    show(n, hideLater) {
      const index = indexAt(positions, n);
      draw(hideLater ? index + 1 : positions.length);
      cursor.setAttribute("d", `M${short(toX(n))} ${TOP - 6}V${HEIGHT - BOTTOM + 3}`);
      for (const { seat } of players) {
        const number = numbers[players.findIndex((player) => player.seat === seat)];
        if (number) number.textContent = String(chart.values[seat]?.[index] ?? "\u2013");
      }
    },
  };
}

/**
 * Writes all numbers down, for those who do not see lines. It is made when somebody opens it.
 * @param {Series} series
 */
function tableOf({ players, turns, charts }) {
  const details = html("details", { class: "numbers" }, html("summary", {}, "The numbers as a table"));
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    const columns = charts.flatMap((chart) => players.map(({ seat }) => ({ chart, seat })));
    details.append(
      html(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers of all charts" },
        html(
          "table",
          {},
          html(
            "thead",
            {},
            html("tr", {}, html("th", { rowspan: 2, scope: "col" }, "Turn"), ...charts.map(({ title }) => html("th", { colspan: players.length, scope: "colgroup" }, title))),
            html("tr", {}, ...columns.map(({ seat }) => html("th", { scope: "col" }, `seat ${seat}`))),
          ),
          html(
            "tbody",
            {},
            ...turns.map((turn, index) =>
              html(
                "tr",
                {},
                html("th", { scope: "row" }, String(turn)),
                ...columns.map(({ chart, seat }) => html("td", {}, String(chart.values[seat]?.[index] ?? ""))),
              ),
            ),
          ),
        ),
      ),
    );
  });
  return details;
}

/**
 * Returns round numbers from at most the least to at least the greatest.
 * @param {number} least
 * @param {number} most
 */
export function ticksTo(least, most) {
  const rough = (most - least) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? 1);
  const ticks = [];
  for (let tick = Math.floor(least / step) * step; tick < most + step; tick += step) ticks.push(tick);
  return ticks;
}

/**
 * Moves digits apart that would lie on one another.
 * @template {{y: number}} End
 * @param {End[]} ends
 */
export function spread(ends) {
  const inOrder = [...ends].sort((one, other) => one.y - other.y);
  for (const [index, end] of inOrder.entries()) {
    const above = inOrder[index - 1];
    if (above !== undefined) end.y = Math.max(end.y, above.y + APART);
  }
  let room = HEIGHT - BOTTOM;
  for (const end of inOrder.reverse()) {
    end.y = Math.min(end.y, room);
    room = end.y - APART;
  }
  return ends;
}

/**
 * Returns which of the positions is the last one up to n.
 * @param {number[]} positions
 * @param {number} n
 */
function indexAt(positions, n) {
  const later = positions.findIndex((position) => position > n);
  return later < 0 ? positions.length - 1 : Math.max(later - 1, 0);
}

/**
 * Returns some turns, evenly spread, for the axis.
 * @param {Series} series
 */
function turnMarks({ positions, turns }) {
  const count = Math.min(6, positions.length);
  const marks = Array.from({ length: count }, (_, at) => Math.round((at * (positions.length - 1)) / Math.max(count - 1, 1)));
  return [...new Set(marks)].map((index) => ({ n: positions[index] ?? 0, turn: turns[index] ?? 0 }));
}
