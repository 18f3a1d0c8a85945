/** SHA-256 without Node and without a promise (FIPS 180-4): what a program remembers instead of a secret. */

const blockBytes = 64;

/** The first 32 bits of the fractional parts of the `power`-th roots of the first primes. */
function rootsOfPrimes(count: number, power: number): Int32Array {
  const roots = new Int32Array(count);
  for (let found = 0, n = 2; found < count; n++) {
    if (!isPrime(n)) continue;
    const root = n ** (1 / power);
    roots[found++] = (root - Math.floor(root)) * 0x1_0000_0000;
  }
  return roots;
}

function isPrime(n: number): boolean {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
}

/** Made at the first use: who imports the client need not have them. */
let tables: { readonly start: Int32Array; readonly constants: Int32Array } | undefined;

/** The digest of a text in UTF-8, as hexadecimal digits. */
export function sha256(text: string): string {
  const blocks = padded(new TextEncoder().encode(text));
  tables ??= { start: rootsOfPrimes(8, 2), constants: rootsOfPrimes(64, 3) };
  const state = tables.start.slice();
  const words = new Int32Array(64);
  for (let offset = 0; offset < blocks.byteLength; offset += blockBytes) {
    for (let i = 0; i < 16; i++) words[i] = blocks.getInt32(offset + i * 4);
    for (let i = 16; i < 64; i++) words[i] = expanded(words, i);
    mix(state, words, tables.constants);
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** A one, as many zeros as fill the block, and the length in bits. */
function padded(bytes: Uint8Array): DataView {
  const length = Math.ceil((bytes.length + 9) / blockBytes) * blockBytes;
  const all = new Uint8Array(length);
  all.set(bytes);
  all[bytes.length] = 0x80;
  const view = new DataView(all.buffer);
  view.setBigUint64(length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function expanded(words: Int32Array, i: number): number {
  const [a, b, c, d] = [at(words, i - 15), at(words, i - 2), at(words, i - 16), at(words, i - 7)];
  const first = rotated(a, 7) ^ rotated(a, 18) ^ (a >>> 3);
  const second = rotated(b, 17) ^ rotated(b, 19) ^ (b >>> 10);
  return (c + first + d + second) | 0;
}

function mix(state: Int32Array, words: Int32Array, constants: Int32Array): void {
  let [a, b, c, d] = [at(state, 0), at(state, 1), at(state, 2), at(state, 3)];
  let [e, f, g, h] = [at(state, 4), at(state, 5), at(state, 6), at(state, 7)];
  for (let i = 0; i < 64; i++) {
    const turnedE = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const chosen = (e & f) ^ (~e & g);
    const first = (h + turnedE + chosen + at(constants, i) + at(words, i)) | 0;
    const turnedA = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + turnedA + majority) | 0;
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (at(state, i) + word) | 0;
}

function at(words: Int32Array, i: number): number {
  return words[i] ?? 0;
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
