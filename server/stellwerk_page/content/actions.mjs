// What a visitor can do, each with its keys: buttons, keys and the page of keys all come from this one list.
//
// Law: whatever can be done with a mouse has a key. Keys do nothing while somebody types, and none of them keeps the
// focus from going on.

/** @typedef {import("./match.mjs").Match} Match */
/**
 * @typedef {"play" | "moveOn" | "moveBack" | "turnOn" | "turnBack" | "roundOn" | "roundBack" | "markOn" | "markBack" |
 *   "first" | "last" | "faster" | "slower" | "goToTurn" | "nextViewer" | "seat" | "public" | "allHands" | "hide" |
 *   "copyLink" | "stage" | "keys" | "nothing"} ActionName
 */
/** @typedef {{label: string, keys: string, matches: (event: KeyboardEvent) => boolean, run: (key: string) => void}} Action */

export class Actions {
  #actions;
  #left;

  /**
   * @param {Record<ActionName, Action>} actions
   * @param {ActionName[]} left what cannot be done here, and has no key
   */
  constructor(actions, left) {
    this.#actions = actions;
    this.#left = new Set(left.map((name) => actions[name]));
  }

  /** @param {ActionName} name */
  describe(name) {
    return this.#actions[name];
  }

  /** All actions that have keys. */
  get all() {
    return Object.values(this.#actions).filter((action) => !this.#left.has(action));
  }

  /** @param {ActionName} name */
  run(name) {
    this.#actions[name].run("");
  }

  /**
   * Does what a key stands for. Returns whether it stands for something.
   * @param {KeyboardEvent} event
   */
  runKey(event) {
    const action = this.all.find(({ matches }) => matches(event));
    action?.run(event.key);
    return action !== undefined;
  }
}

/** @type {(key: string, shift?: boolean) => (event: KeyboardEvent) => boolean} */
const key = (name, shift) => (event) =>
  event.key.toLowerCase() === name.toLowerCase() && (shift === undefined || event.shiftKey === shift);

/**
 * @param {Match} match
 * @param {import("./clock.mjs").Clock} clock
 * @param {{goToTurn: () => void, copyLink: () => void, stage: (isStage?: boolean) => void, keys: () => void,
 *   closed: () => void}} page
 */
export function actionsOf(match, clock, page) {
  /** @param {() => number | null} to */
  const step = (to) => () => {
    clock.pause();
    const n = to();
    if (n !== null) match.go(n);
  };
  /** In the mode without spoilers, what is ahead may be stepped to, but not counted. @param {1 | -1} direction */
  const mark = (direction) => () => match.timeline.byMark(match.n, direction);
  /** @type {Record<ActionName, Action>} */
  const actions = {
    play: { label: "Play or pause", keys: "Space", matches: key(" "), run: () => clock.toggle() },
    moveOn: { label: "Next move", keys: "→", matches: key("ArrowRight", false), run: step(() => match.n + 1) },
    moveBack: { label: "Move before", keys: "←", matches: key("ArrowLeft", false), run: step(() => match.n - 1) },
    turnOn: { label: "Next turn", keys: "Shift →", matches: key("ArrowRight", true), run: step(() => match.timeline.byTurn(match.n, 1)) },
    turnBack: { label: "Turn before", keys: "Shift ←", matches: key("ArrowLeft", true), run: step(() => match.timeline.byTurn(match.n, -1)) },
    roundOn: { label: "Next round", keys: "]", matches: key("]"), run: step(() => match.timeline.byRound(match.n, 1)) },
    roundBack: { label: "Round before", keys: "[", matches: key("["), run: step(() => match.timeline.byRound(match.n, -1)) },
    markOn: { label: "Next mark", keys: "N", matches: key("n"), run: step(mark(1)) },
    markBack: { label: "Mark before", keys: "B", matches: key("b"), run: step(mark(-1)) },
    first: { label: "Beginning", keys: "Home", matches: key("Home"), run: step(() => 0) },
    last: { label: "End", keys: "End", matches: key("End"), run: step(() => match.horizon) },
    faster: { label: "Faster", keys: "+", matches: (event) => event.key === "+" || event.key === "=", run: () => clock.changeSpeed(1) },
    slower: { label: "Slower", keys: "-", matches: key("-"), run: () => clock.changeSpeed(-1) },
    goToTurn: { label: "Type the number of a turn", keys: "G", matches: key("g"), run: page.goToTurn },
    allHands: { label: "Show all hands", keys: "A", matches: key("a"), run: () => match.look("all_hands") },
    public: { label: "Show what everybody sees", keys: "P", matches: key("p"), run: () => match.look("public") },
    seat: {
      label: "Show what a seat sees",
      keys: `0 to ${match.players.length - 1}`,
      matches: (event) => /^\d$/.test(event.key) && Number(event.key) < match.players.length,
      run: (digit) => match.look(Number(digit)),
    },
    nextViewer: {
      label: "Next viewer",
      keys: "V",
      matches: key("v"),
      run: () => match.look(match.viewers[(match.viewers.indexOf(match.viewer) + 1) % match.viewers.length] ?? match.viewer),
    },
    hide: { label: "Hide what comes (no spoilers), or show it", keys: "H", matches: key("h"), run: () => match.hide(!match.hides) },
    copyLink: { label: "Copy a link to this moment", keys: "C", matches: key("c"), run: page.copyLink },
    stage: { label: "Stage: large, without controls, plays by itself", keys: "S", matches: key("s"), run: () => page.stage() },
    keys: { label: "Show or close this list", keys: "?", matches: key("?"), run: page.keys },
    nothing: { label: "Choose nothing; leave the stage", keys: "Escape", matches: key("Escape"), run: page.closed },
  };
  return new Actions(actions, match.viewers.length > 1 ? [] : ["allHands", "public", "seat", "nextViewer"]);
}
