import { formatUuid, type Random } from "../random.ts";

/**
 * A generator whose whole sequence follows from its seed (sfc32, 128 bits of state): the same seed gives the
 * same run on every machine and version of Node.
 */
export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  let d = seed >>> 0;
  const word = (): number => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return t >>> 0;
  };
  for (let i = 0; i < 15; i++) word();
  const bytes = (length: number): Uint8Array => {
    const drawn = new Uint8Array(length);
    for (let i = 0; i < length; i++) drawn[i] = word();
    return drawn;
  };
  return {
    next: () => word() / 2 ** 32,
    int: (bound) => Math.floor((word() / 2 ** 32) * bound),
    bytes,
    uuid: () => formatUuid(bytes(16)),
  };
}
