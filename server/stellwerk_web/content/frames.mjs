// Drawing what streams bring, not more often than people can see.

const LONGEST_WAIT_MS = 1000; // for a frame

/**
 * Returns a function that asks for one drawing: several changes within the same moment are drawn together.
 * @param {() => void} draw
 * @param {number} [apart] milliseconds, at least, between two drawings
 */
export function drawnTogether(draw, apart = 0) {
  let isAsked = false;
  let last = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const run = () => {
    if (!isAsked) return;
    clearTimeout(timer);
    isAsked = false;
    last = performance.now();
    draw();
  };
  return () => {
    if (isAsked) return;
    isAsked = true;
    const wait = last + apart - performance.now();
    // A page that nobody sees gets no frames, and a browser need not say so: the timer keeps it from falling behind.
    timer = setTimeout(run, wait > 0 ? wait : LONGEST_WAIT_MS);
    if (wait <= 0) requestAnimationFrame(run);
  };
}

/** @type {(() => void)[]} */
const jobs = [];

/**
 * Does a job soon, and no other one in the same task: together they would stop the picture.
 * @param {() => void} job
 */
export function soon(job) {
  jobs.push(job);
  if (jobs.length === 1) setTimeout(doNext);
}

function doNext() {
  try {
    jobs[0]?.();
  } finally {
    jobs.shift();
    if (jobs.length > 0) setTimeout(doNext);
  }
}
