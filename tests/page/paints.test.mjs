// Seats and routes can be told apart, by eyes of every kind.

import assert from "node:assert/strict";
import { test } from "node:test";

import { COLORS, DASHES, LETTERS, PARTNERS, SEATS, SPACES, STRIPES, areInTeams, seatPaint } from "../../server/stellwerk_page/content/paints.mjs";

// Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
const EYES = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const SEEN = 0.09; // in OKLab, where 0.02 can just be seen side by side
const TEXT = 4.5; // WCAG 2.2
const GRAPHICS = 3;

const linear = (hex) =>
  [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, each, at) => sum + each * vector[at], 0));
const seen = (hex, eyes) => oklab(times(EYES[eyes], linear(hex)).map((c) => Math.min(1, Math.max(0, c))));
const apart = (one, other) => Math.hypot(...one.map((each, at) => each - other[at]));

function oklab(rgb) {
  const cones = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], rgb);
  return times([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]], cones.map(Math.cbrt));
}

function contrast(one, other) {
  const [least, most] = [one, other].map((hex) => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0]).sort((a, b) => a - b);
  return (most + 0.05) / (least + 0.05);
}

const pairs = (items) => items.flatMap((one, at) => items.slice(at + 1).map((other) => [one, other]));

for (const [name, paints] of Object.entries({ SEATS, PARTNERS })) {
  for (const eyes of Object.keys(EYES)) {
    test(`the colors of ${name} keep their distance for eyes with ${eyes}`, () => {
      for (const [one, other] of pairs(paints)) {
        const distance = apart(seen(one.fill, eyes), seen(other.fill, eyes));
        assert.ok(distance >= SEEN, `${one.fill} and ${other.fill}: ${distance.toFixed(3)}`);
      }
    });
  }
}

test("without any color seats differ by their stripes, their dashes and their digits", () => {
  const boxes = STRIPES.map(({ lines }) => JSON.stringify(lines(20)));
  assert.equal(new Set(boxes).size, SEATS.length);
  assert.equal(new Set(DASHES).size, SEATS.length);
});

test("colors of routes that some eyes take for one another have different letters", () => {
  const colors = Object.keys(COLORS);
  assert.equal(new Set(colors.map((color) => LETTERS[color])).size, colors.length);
});

test("text on every color has a contrast of 4.5", () => {
  const grounds = [...SEATS, ...PARTNERS, ...Object.values(COLORS), ...Object.values(SPACES).flatMap(({ light, dark }) => [light, dark])];
  for (const { fill, ink } of grounds) assert.ok(contrast(fill, ink) >= TEXT, `${ink} on ${fill}: ${contrast(fill, ink).toFixed(2)}`);
});

test("what is owned stands out: its rim from the map, or its color", () => {
  for (const [paper, rim] of [["#f7f4ec", "#22252b"], ["#1a1d23", "#f4f2ec"]]) assert.ok(contrast(paper, rim) >= GRAPHICS);
});

test("partners have colors of one hue, others have not", () => {
  const hue = ({ fill }) => {
    const [, a, b] = oklab(linear(fill));
    return (Math.atan2(b, a) * 180) / Math.PI;
  };
  const turn = (one, other) => Math.abs(((hue(one) - hue(other) + 540) % 360) - 180);
  for (let team = 0; team < 3; team++) {
    const [one, other] = [PARTNERS[2 * team], PARTNERS[2 * team + 1]];
    assert.ok(turn(one, other) < 35, `${one.fill} ${other.fill} ${turn(one, other)}`);
    for (const stranger of PARTNERS.filter((_, seat) => seat >> 1 !== team)) assert.ok(turn(one, stranger) > 35);
  }
});

test("a match in teams has the colors of partners", () => {
  const players = (teams) => teams.map((team, seat) => ({ seat, team, name: "a" }));
  assert.equal(areInTeams(players([0, 0, 1, 1])), true);
  assert.equal(areInTeams(players([0, 1])), false);
  assert.equal(seatPaint(players([0, 0, 1, 1]), 1), PARTNERS[1]);
  assert.equal(seatPaint(players([0, 1]), 1), SEATS[1]);
});
