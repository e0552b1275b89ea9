// Changing what an element contains without throwing the focus away.
//
// Law: what had the focus has it afterwards, if it is still there under its `data-key`; else the element itself, so
// that a reader with a keyboard goes on where they were.

/**
 * Replaces the children of an element.
 * @param {HTMLElement} element
 * @param {...Node} children
 */
export function redraw(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const key = focused instanceof HTMLElement ? focused.dataset.key : undefined;
  element.replaceChildren(...children); // in one go, so what scrolls stays where it was
  if (focused === null || focused === element) return;
  const heir = key === undefined ? null : element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (heir instanceof HTMLElement) {
    heir.focus({ preventScroll: true });
  } else {
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
  }
}

/**
 * Runs a generator in pieces, so that the page answers between them. Returns a function that stops it.
 * @template T
 * @param {Generator<unknown, T>} work
 * @param {{done?: (result: T) => void, between?: (value: unknown) => void, failed?: (error: unknown) => void}} hear
 */
export function inPieces(work, { done, between, failed }) {
  const PIECE_MS = 12; // short enough for a page that moves 60 times a second
  const channel = new MessageChannel();
  let isStopped = false;
  channel.port1.onmessage = () => {
    if (isStopped) return;
    const until = performance.now() + PIECE_MS;
    /** @type {unknown} */
    let last;
    try {
      do {
        const step = work.next();
        if (step.done) {
          isStopped = true;
          channel.port1.close();
          done?.(step.value);
          return;
        }
        last = step.value;
      } while (performance.now() < until);
    } catch (error) {
      isStopped = true;
      channel.port1.close();
      if (failed === undefined) throw error;
      failed(error);
      return;
    }
    between?.(last);
    channel.port2.postMessage(null);
  };
  channel.port2.postMessage(null);
  return () => {
    isStopped = true;
    channel.port1.close();
  };
}
