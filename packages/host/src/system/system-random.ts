import type { Random } from "../random.ts";

// Not imported: to read what node:crypto exports is to load the web's cryptography, too.
const { randomBytes, randomInt, randomUUID } = process.getBuiltinModule("node:crypto");

/** Where UUIDs are made into one piece. */
const uuidBuffer = Buffer.alloc(36);

/** Randomness from the operating system. */
export const systemRandom: Random = {
  next: () => randomInt(2 ** 47) / 2 ** 47,
  int: (bound) => (bound <= 1 ? 0 : randomInt(bound)),
  bytes: (length) => randomBytes(length),
  uuid,
};

/** Node's is a chain of twenty strings, 500 bytes for as long as it is kept; the same in one piece has 56. */
function uuid(): string {
  uuidBuffer.write(randomUUID(), "latin1");
  return uuidBuffer.toString("latin1");
}
