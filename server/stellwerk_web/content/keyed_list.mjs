// A list of which only what has changed is drawn again.
//
// Law: an entry stays the same element for as long as it is in the list, so it keeps the focus; and what has left the
// list is kept nowhere.

/**
 * @template T
 * @param {HTMLElement} list
 * @param {{key: (item: T) => string, make: (item: T) => HTMLElement, change: (element: HTMLElement, item: T) => void}} how
 */
export function createKeyedList(list, { key, make, change }) {
  /** @type {Map<string, {element: HTMLElement, item: T}>} */
  let shown = new Map();

  /** Shows these items, in this order. @param {T[]} items those that have not changed are the same objects */
  return (items) => {
    /** @type {typeof shown} */
    const next = new Map();
    for (const item of items) {
      const name = key(item);
      const known = shown.get(name);
      if (known === undefined) {
        const element = make(item);
        change(element, item);
        next.set(name, { element, item });
      } else {
        if (known.item !== item) change(known.element, item);
        next.set(name, { element: known.element, item });
      }
    }
    for (const [name, { element }] of shown) if (!next.has(name)) element.remove();
    const focused = list.contains(document.activeElement) ? document.activeElement : null;
    let place = list.firstElementChild;
    for (const { element } of next.values()) {
      if (element === place) place = place.nextElementSibling;
      else list.insertBefore(element, place);
    }
    if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    shown = next;
  };
}
