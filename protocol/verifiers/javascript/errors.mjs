// What can be wrong: a line of a replay, or a move.

/** A line of a replay that is not true, or that nobody can judge. */
export class UntrueError extends Error {
  /**
   * @param {string} message
   * @param {boolean} judged false if nobody can tell whether the line is true
   */
  constructor(message, judged = true) {
    super(message);
    this.judged = judged;
  }
}

/** A move that is not legal, with the code and the pointer (into the move) of README.md, Errors. */
export class RefusedError extends Error {
  /**
   * @param {string} code
   * @param {string} pointer
   * @param {string} message why, for people
   */
  constructor(code, pointer, message = code) {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }
}
