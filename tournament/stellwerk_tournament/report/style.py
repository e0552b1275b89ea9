"""The style sheet of the report.

Law: light and dark by the reader's preference; from a phone to a projector by the width alone; nothing is
told by color only; every text stands out from its ground by a ratio of 4.5 or more, which a test computes.
"""

from __future__ import annotations

from typing import Final

# The color of a cell by score, from always worse (0) to always better (10): orange and blue, which nearly all
# readers can tell apart.
HEAT_LIGHT: Final = (
    "#e98a3d",
    "#efa15f",
    "#f4b781",
    "#f7cca5",
    "#f9e0c8",
    "#f1efe8",
    "#d8e6f3",
    "#b9d3ec",
    "#97bde3",
    "#74a6d9",
    "#5590cf",
)
HEAT_DARK: Final = (
    "#9e530c",
    "#854a15",
    "#6c411b",
    "#54381f",
    "#3d3024",
    "#2b2f34",
    "#25344a",
    "#254262",
    "#25517b",
    "#245f95",
    "#216eaf",
)
LINES_LIGHT: Final = (
    "#0b5cad",
    "#b3470a",
    "#1b7a3d",
    "#8a2d8f",
    "#876000",
    "#00707a",
    "#b21e4b",
    "#4b4f58",
)
LINES_DARK: Final = (
    "#6cb2ff",
    "#ff9e5c",
    "#6bd28c",
    "#e08ae4",
    "#e6bb45",
    "#4fd0d8",
    "#ff8aa8",
    "#c3c8d0",
)
# Names to colors; the style sheet uses them as `var(--NAME)`.
LIGHT: Final = {
    "paper": "#fbfaf7",
    "card": "#ffffff",
    "band": "#f3f1eb",
    "ink": "#16191d",
    "quiet": "#565c66",
    "rule": "#d9d6cd",
    "accent": "#0b5cad",
    "caution": "#fff3d6",
    "caution-edge": "#b07700",
}
DARK: Final = {
    "paper": "#121518",
    "card": "#181c20",
    "band": "#20252a",
    "ink": "#f0f1f2",
    "quiet": "#a9b0b9",
    "rule": "#363c43",
    "accent": "#6cb2ff",
    "caution": "#33290f",
    "caution-edge": "#e6bb45",
}
_DASHES: Final = ("none", "8 4", "2 3", "12 4 2 4", "5 5", "14 5", "2 6", "9 3 2 3 2 3")


def style_sheet() -> str:
    dark = (
        f"@media (prefers-color-scheme: dark) {{\n:root {{ {_variables(DARK, HEAT_DARK, LINES_DARK)} }}\n}}"
    )
    heat = "\n".join(f".h{step} {{ background: var(--h{step}) }}" for step in range(len(HEAT_LIGHT)))
    lines = "\n".join(
        f".c{number} {{ --line: var(--c{number}); --dash: {dash} }}" for number, dash in enumerate(_DASHES)
    )
    light = f":root {{ color-scheme: light dark; {_variables(LIGHT, HEAT_LIGHT, LINES_LIGHT)} }}"
    return "\n".join((light, dark, heat, lines, _RULES))


def _variables(names: dict[str, str], heat: tuple[str, ...], lines: tuple[str, ...]) -> str:
    colors = {
        **names,
        **{f"h{number}": color for number, color in enumerate(heat)},
        **{f"c{number}": color for number, color in enumerate(lines)},
    }
    return " ".join(f"--{name}: {color};" for name, color in colors.items())


_RULES: Final = """\
* { box-sizing: border-box }
html { font-size: clamp(15px, 10.5px + 0.5vw, 22px); -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.45;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word }
header, main, footer { max-width: 96rem; margin: 0 auto; padding: 0 clamp(0.75rem, 2.5vw, 2.5rem) }
header { padding-top: clamp(1rem, 3vw, 2.2rem) }
h1 { font-size: clamp(1.5rem, 1.1rem + 1.6vw, 2.4rem); line-height: 1.15; margin: 0 0 0.3rem;
  letter-spacing: -0.01em }
h2 { font-size: 1.35rem; margin: 0 0 0.5rem }
h3 { font-size: 1.05rem; margin: 1.6rem 0 0.4rem }
p { margin: 0.4rem 0 0.8rem; max-width: 62rem }
a { color: var(--accent) }
.lead { color: var(--quiet); font-size: 1.05rem }
.small, figcaption { font-size: 0.85rem; color: var(--quiet) }
nav { display: flex; flex-wrap: wrap; gap: 0.3rem 1.1rem; margin: 0.8rem 0 0; padding: 0.6rem 0;
  border-block: 1px solid var(--rule) }
section { padding-top: 1.6rem; margin-bottom: 1.2rem }
footer { color: var(--quiet); font-size: 0.85rem; padding-block: 1rem 2rem }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }

.warning { background: var(--caution); border-left: 0.35rem solid var(--caution-edge); padding: 0.6rem 0.9rem;
  margin: 0.4rem 0 1rem; border-radius: 0 0.4rem 0.4rem 0 }
.warning ul { margin: 0.2rem 0 0; padding-left: 1.2rem }

.scroll { overflow: auto; border: 1px solid var(--rule); border-radius: 0.4rem; background: var(--card);
  max-width: 100% }
.tall { max-height: min(85vh, 60rem) }
table { border-collapse: separate; border-spacing: 0; min-width: 100% }
th, td { padding: 0.28rem 0.6rem; text-align: left; border-bottom: 1px solid var(--rule);
  vertical-align: middle }
tbody:last-child tr:last-child > * { border-bottom: 0 }
th { font-weight: 600 }
thead th { background: var(--band); font-size: 0.85rem; vertical-align: bottom; z-index: 2; line-height: 1.2 }
thead th.num { text-align: right }
.tall thead th { position: sticky; top: 0 }
tbody .num { text-align: right; white-space: nowrap }
td sup { line-height: 0; margin-left: 0.1em }
.wide, tbody th[scope=row]:not(.name, .num) { min-width: 11rem }
td small { display: block; color: var(--quiet); font-size: 0.75rem }
tbody th.name { position: sticky; left: 0; background: var(--card); z-index: 1 }
.name > span { display: block; width: max-content; max-width: 20rem; overflow-wrap: anywhere }
.group th { background: var(--band) }
thead button { all: unset; cursor: pointer; font: inherit }
thead button:focus-visible { outline: 3px solid var(--accent) }
thead button::after { content: "\\2195"; content: "\\2195" / ""; opacity: 0.45; margin-left: 0.25em }
th[aria-sort=ascending] button::after { content: "\\2191"; content: "\\2191" / ""; opacity: 1 }
th[aria-sort=descending] button::after { content: "\\2193"; content: "\\2193" / ""; opacity: 1 }
code { font-size: 0.9em }

.hidden { position: absolute }
.plot { padding-inline: 0; min-width: clamp(9rem, 17vw, 26rem); width: 40% }
.plot svg { display: block; width: 100% }
td.plot { position: relative }
.interval { position: absolute; inset: 0; height: 100%; overflow: hidden }
.axis { height: 1.4rem; overflow: visible; font-size: 0.75rem; fill: var(--quiet) }
.tick { stroke: var(--rule); stroke-width: 1; fill: none; vector-effect: non-scaling-stroke }
.zero { stroke: var(--quiet); stroke-width: 1.5; fill: none; vector-effect: non-scaling-stroke }
.reach { stroke: var(--accent); stroke-width: 3 }
.end { stroke: var(--accent); stroke-width: 2; fill: none }
.point { fill: var(--accent); stroke: var(--card); stroke-width: 1.5 }
.bounded { fill: var(--card); stroke: var(--accent); stroke-width: 2 }

.legend { display: flex; align-items: center; white-space: nowrap; max-width: 38rem }
.legend b { font-weight: 400; margin: 0 0.4rem }
.legend b:first-child { margin-left: 0 }
.legend span { flex: 0 1 2.4em; padding: 0.1rem 0; text-align: center; font-size: 0.8rem }
.pointed { min-height: 1.45em; font-weight: 600 }
.pointed:empty::before { content: "\\a0" }
.scroll:has(.cross) { width: fit-content }
.cross { min-width: 0 }
.cross th, .cross td { border: 0 }
.cross td { text-align: center; padding: 0.15rem; min-width: 2.3rem; height: 2rem; line-height: 1.1 }
.cross tbody th[scope=row]:not(.name) { min-width: 0 }
.cross tbody th { position: sticky; left: 0; background: var(--card); z-index: 1; padding: 0 0.5rem;
  font-size: 0.85rem; font-weight: 400; white-space: nowrap }
.cross tbody th span { display: block; max-width: clamp(6rem, 24vw, 20rem); overflow: hidden;
  text-overflow: ellipsis }
.cross thead th { padding: 0.4rem 0.1rem; text-align: left; font-weight: 400 }
.cross thead th span { display: block; writing-mode: vertical-rl; transform: rotate(180deg); margin: 0 auto;
  max-height: 14rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.cross .corner { position: sticky; left: 0; top: 0; z-index: 3; background: var(--band) }
.cross .self { background: repeating-linear-gradient(135deg, var(--rule) 0 2px, transparent 2px 6px) }
.cross td a { display: block; padding: 0.3rem 0; color: inherit; text-decoration: none }
.cross td a:hover { text-decoration: underline }
.counts td[data-n]::after { content: attr(data-n); display: block; font-size: 0.68rem }
#numbers { margin: 0 0.4rem 0 0; width: 1.1rem; height: 1.1rem; vertical-align: middle }
#numbers + label { vertical-align: middle }
#numbers:not(:checked) ~ .scroll .many { border-spacing: 0; table-layout: fixed;
  --cell: clamp(4px, calc((min(100vw, 96rem) - 9rem) / var(--bots)), 1.6rem);
  width: calc(var(--cell) * var(--bots) + 3rem) }
#numbers:not(:checked) ~ .scroll .many :is(td, th) { width: var(--cell); min-width: 0; height: var(--cell);
  padding: 0; font-size: 0; line-height: 0 }
#numbers:not(:checked) ~ .scroll .many :is(tbody th, .corner) { width: 3rem; text-align: right;
  padding-right: 0.4rem }
#numbers:not(:checked) ~ .scroll .many span { max-width: none; max-height: none; overflow: visible }
#numbers:not(:checked) ~ .scroll .many thead th { height: 2.4rem; vertical-align: bottom }
#numbers:not(:checked) ~ .scroll .many tbody tr:nth-child(10n) b,
#numbers:not(:checked) ~ .scroll .many thead th:nth-child(10n+1) b { font-size: 0.75rem }

.chart { margin: 0.6rem 0 }
.frame { position: relative; height: clamp(16rem, 45vh, 30rem);
  margin: 1rem clamp(6.5rem, 19vw, 18rem) 1rem 3.2rem }
.frame > svg { position: absolute; inset: 0; width: 100%; height: 100% }
.frame > .leaders { left: 100%; width: 1.2rem }
.frame span { position: absolute; transform: translateY(-50%); font-size: 0.85rem; line-height: 1;
  white-space: nowrap }
.frame .value { right: calc(100% + 0.5rem); color: var(--quiet) }
.frame .name { left: calc(100% + 1.4rem); width: clamp(5rem, 17vw, 16.5rem); overflow: hidden;
  text-overflow: ellipsis; color: var(--line); font-weight: 600; padding-block: 2px }
.frame g, .spark { fill: none; stroke: var(--line); stroke-width: 2.5; stroke-dasharray: var(--dash) }
.frame g *, .spark * { vector-effect: non-scaling-stroke }
.leaders g { stroke-width: 1; stroke-dasharray: none }
.frame .other { stroke: var(--quiet); stroke-width: 1; stroke-opacity: 0.45; stroke-dasharray: none }
.spark { --line: var(--accent); --dash: none; stroke-width: 1.5; display: block; width: 100%; height: 2rem }
.sparks { min-width: 9rem; width: 60%; padding-block: 0 }

details { margin: 0.3rem 0 }
.bot { scroll-margin-top: 1rem }
tr:target > * { box-shadow: inset 0 2px var(--accent), inset 0 -2px var(--accent) }
tr[id] { scroll-margin: 6rem }
.links { white-space: nowrap }
.links a { margin-right: 0.3em }
summary { cursor: pointer; padding: 0.15rem 0 }
.example > :not(summary) { margin-left: 1.1rem }
pre { overflow: auto; background: var(--band); padding: 0.6rem 0.8rem; border-radius: 0.4rem;
  font-size: 0.85rem;
  max-width: 100%; max-height: 20rem }
dl { display: grid; grid-template-columns: max-content minmax(0, 62rem); gap: 0.3rem 1.4rem;
  margin: 0.4rem 0 }
dt { font-weight: 600 }
dd { margin: 0 }
.filter { display: block; margin: 0 0 0.6rem }
.filter input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--quiet);
  border-radius: 0.3rem; padding: 0.2rem 0.5rem; margin-left: 0.5rem; max-width: 100% }

@media (max-width: 40rem) {
  th, td { padding-inline: 0.4rem }
  .name > span { max-width: 6.2rem; line-height: 1.2; font-size: 0.93rem }
  tbody .span { white-space: normal; min-width: 3.6rem; font-size: 0.93rem }
  .plot { min-width: clamp(4rem, calc(100vw - 19.8rem), 9rem); width: auto }
  thead th:not([aria-sort]) button::after { display: none }
  .legend span { font-size: 0.68rem }
  .axis .odd { display: none }
  .wide { min-width: 9rem }
  tbody th[scope=row]:not(.name, .num) { min-width: 6.5rem }
  .cross thead th span { max-height: 9rem }
  dl { display: block }
  dd { margin-bottom: 0.6rem }
}
@media print {
  .scroll, .tall { overflow: visible; max-height: none; border: 0 }
  nav, .filter, .pointed { display: none }
}
"""
