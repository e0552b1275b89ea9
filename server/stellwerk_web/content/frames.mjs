// Drawing what streams bring, not more often than people can see.

/**
 * Returns a function that asks for one drawing: several changes within the same moment are drawn together.
 * @param {() => void} draw
 * @param {number} [apart] milliseconds, at least, between two drawings
 */
export function drawnTogether(draw, apart = 0) {
  let isAsked = false;
  let last = -Infinity;
  const run = () => {
    isAsked = false;
    last = performance.now();
    draw();
  };
  return () => {
    if (isAsked) return;
    isAsked = true;
    const wait = last + apart - performance.now();
    // A page that nobody sees gets no frames, and need not draw; its timers keep it from falling behind for ever.
    if (wait > 0) setTimeout(run, wait);
    else if (document.hidden) setTimeout(run, 1000);
    else requestAnimationFrame(run);
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
