// Elements of pages and of drawings.
//
// Law: text and attributes are set as such, never as markup, so no name from a replay can become an element. Styles are
// set by the interface for them, which a page's policy allows where it allows no attribute `style`.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | undefined>} Attributes */

/**
 * Makes an element of a drawing.
 * @param {string} name
 * @param {Attributes} [attributes] one without a value is left out
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, ...children) {
  return filled(/** @type {SVGElement} */ (document.createElementNS(SVG, name)), attributes, children);
}

/**
 * Makes an element of a page.
 * @param {string} name
 * @param {Attributes} [attributes] one without a value is left out
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    if (name === "style" && "style" in element) /** @type {HTMLElement} */ (/** @type {unknown} */ (element)).style.cssText = String(value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * Writes a number as short as it looks the same.
 * @param {number} number
 */
export const short = (number) => String(Math.round(number * 10) / 10);
