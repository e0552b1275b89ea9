// The data of a page: what one_file.py put into its element `data`.

/**
 * @typedef {object} PageData
 * @property {string} name of the replay's file
 * @property {Uint8Array} replay its bytes
 * @property {Map<string, string>} boards from a digest to the canonical text of the board
 * @property {Map<string, any>} layouts from a digest to where its tracks bend and its names stand
 * @property {any} times thinking times, which nobody has verified; undefined if there are none
 * @property {string} version of the program that made the page
 */

/**
 * @param {Document} document
 * @returns {PageData}
 */
export function readData(document) {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "");
  return {
    name: data.name,
    replay: bytesOf(data.replay),
    boards: new Map(Object.entries(data.boards)),
    layouts: new Map(Object.entries(data.layouts)),
    times: data.times,
    version: data.version,
  };
}

/** @param {string} base64 */
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
