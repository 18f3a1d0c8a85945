import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { Random } from "../random.ts";

/** Randomness from the operating system. */
export const systemRandom: Random = {
  next: () => randomInt(2 ** 47) / 2 ** 47,
  int: (bound) => (bound <= 1 ? 0 : randomInt(bound)),
  bytes: (length) => randomBytes(length),
  uuid: () => randomUUID(),
};
