// Opening another replay in the same page: by a button, or by dropping a file anywhere.

import { html } from "./markup.mjs";
import { LONGEST_FILE } from "./replay_file.mjs";

/** @param {(name: string, bytes: Uint8Array) => void} open */
export function createOpener(open) {
  const input = /** @type {HTMLInputElement} */ (html("input", { type: "file", id: "file", class: "unseen", tabindex: -1, accept: ".jsonl", "aria-label": "Open another replay" }));
  const button = html("button", { type: "button", class: "button" }, "Open…");
  button.setAttribute("title", "Open another replay, or drop one anywhere on the page");
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => take(input.files));
  const element = html("span", { class: "opener" }, button, input);

  /** @param {FileList | null | undefined} files */
  async function take(files) {
    const file = files?.[0];
    // One byte more than a replay can have is enough to say that it is too long.
    if (file !== undefined) open(file.name, new Uint8Array(await file.slice(0, LONGEST_FILE + 1).arrayBuffer()));
    input.value = "";
  }
  /** @param {DragEvent} event */
  const isFile = (event) => event.dataTransfer?.types.includes("Files") === true;
  /** @param {DragEvent} event */
  function over(event) {
    if (!isFile(event)) return;
    event.preventDefault();
    document.documentElement.classList.add("dropping");
  }
  /** @param {DragEvent} event */
  function leave(event) {
    if (event.relatedTarget === null) document.documentElement.classList.remove("dropping");
  }
  /** @param {DragEvent} event */
  function drop(event) {
    document.documentElement.classList.remove("dropping");
    if (!isFile(event)) return;
    event.preventDefault();
    void take(event.dataTransfer?.files);
  }
  addEventListener("dragover", over);
  addEventListener("dragleave", leave);
  addEventListener("drop", drop);
  return {
    element,
    stop: () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    },
  };
}
