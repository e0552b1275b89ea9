// What all pages have at the top: the title, the ways to the other pages, the connection.

import { html } from "../../stellwerk_page/content/markup.mjs";
import { createConnection, createReloadOffer } from "./connection.mjs";

/** @param {{page: "overview" | "bot" | "pair" | "match", retry?: () => void}} given */
export function createShell({ page, retry }) {
  const connection = createConnection(retry === undefined ? {} : { retry });
  const offer = createReloadOffer();
  const heading = html("h1", {}, "Stellwerk");
  const about = html("p", { class: "source muted" });
  /** @type {[string, string, string][]} */
  const ways = [
    ["/", "Overview", "overview"],
    ["/wall", "Wall", "wall"],
    ["/about", "About", "about"],
  ];
  const element = html(
    "header",
    { class: "top" },
    html("div", { class: "titles" }, heading, about),
    html(
      "nav",
      { "aria-label": "Pages" },
      html("ul", { class: "ways" }, ...ways.map(([href, name, id]) => html("li", {}, html("a", { href, "aria-current": id === page ? "page" : undefined }, name)))),
    ),
    connection.element,
    offer.element,
  );
  return {
    element,
    connection,
    offer,
    /**
     * @param {string} title
     * @param {string} under
     */
    title(title, under) {
      if (heading.textContent !== title) heading.textContent = title;
      if (about.textContent !== under) about.textContent = under;
    },
  };
}
