// The match page.

import { readData } from "./data.mjs";

const { name, replay } = readData(document);
const lines = replay.filter((byte) => byte === 10).length;
const heading = document.createElement("h1");
heading.textContent = `${name}: ${lines} lines`;
document.title = name;
document.getElementById("waiting")?.replaceWith(heading);
