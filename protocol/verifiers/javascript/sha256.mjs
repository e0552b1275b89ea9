// SHA-256 (FIPS 180-4) over bytes, without the help of a platform: `crypto.subtle` is missing in a browser that got its
// page over plain HTTP, and `node:crypto` is missing in every browser.

const BLOCK = 64; // bytes
const ENCODER = new TextEncoder();

/** The first 32 bits of the fractional parts of the roots of the first primes. */
const [BEGIN, K] = rootsOfPrimes();

/**
 * Returns the SHA-256 of texts (as UTF-8) and bytes, joined.
 * @param {...(string | Uint8Array)} parts
 * @returns {Uint8Array} 32 bytes
 */
export function sha256(...parts) {
  const state = Int32Array.from(BEGIN);
  const pending = new Uint8Array(2 * BLOCK); // the begin of a block, and in the end its padding
  let held = 0; // bytes in it
  let length = 0;
  for (const part of parts) {
    const bytes = typeof part === "string" ? ENCODER.encode(part) : part;
    length += bytes.length;
    let at = 0;
    if (held > 0) {
      at = Math.min(BLOCK - held, bytes.length);
      pending.set(bytes.subarray(0, at), held);
      held += at;
      if (held < BLOCK) continue;
      compress(state, pending, 0);
      held = 0;
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) compress(state, bytes, at);
    pending.set(bytes.subarray(at), 0);
    held = bytes.length - at;
  }
  pending.fill(0, held);
  pending[held] = 0x80;
  const end = held + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
  const view = new DataView(pending.buffer);
  view.setUint32(end - 8, Math.floor(length / 2 ** 29));
  view.setUint32(end - 4, (length * 8) >>> 0);
  for (let at = 0; at < end; at += BLOCK) compress(state, pending, at);
  state.forEach((word, index) => view.setInt32(4 * index, word));
  return pending.slice(0, 32);
}

/**
 * Returns the SHA-256 of texts and bytes, joined, as 64 hexadecimal digits.
 * @param {...(string | Uint8Array)} parts
 */
export function digits(...parts) {
  return toDigits(sha256(...parts));
}

/**
 * Returns bytes as lower-case hexadecimal digits.
 * @param {Uint8Array} bytes
 */
export function toDigits(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Returns the bytes that hexadecimal digits spell.
 * @param {string} text an even number of digits
 */
export function fromDigits(text) {
  return Uint8Array.from({ length: text.length / 2 }, (_, index) => parseInt(text.slice(2 * index, 2 * index + 2), 16));
}

const WORDS = new Int32Array(64);

/**
 * Mixes a block of 64 bytes into the state.
 * @param {Int32Array} state
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function compress(state, bytes, at) {
  for (let i = 0; i < 16; i++, at += 4) {
    WORDS[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const x = WORDS[i - 15];
    const y = WORDS[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    WORDS[i] = (WORDS[i - 16] + s0 + WORDS[i - 7] + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + WORDS[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

/**
 * Returns 32 bits of the square roots of the first 8 primes, and of the cube roots of the first 64, exactly.
 * @returns {[Int32Array, Int32Array]}
 */
function rootsOfPrimes() {
  /** @type {number[]} */
  const primes = [];
  for (let number = 2; primes.length < 64; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  /** @type {(prime: number, power: number) => number} */
  const bits = (prime, power) => {
    const wanted = BigInt(prime) << BigInt(32 * power);
    let root = 0n;
    for (let bit = 1n << 36n; bit > 0n; bit >>= 1n) {
      if ((root + bit) ** BigInt(power) <= wanted) root += bit;
    }
    return Number(BigInt.asIntN(32, root));
  };
  return [
    Int32Array.from(primes.slice(0, 8), (prime) => bits(prime, 2)),
    Int32Array.from(primes, (prime) => bits(prime, 3)),
  ];
}
