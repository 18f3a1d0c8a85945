/** The simulated twin of the host: virtual time and randomness from a seed. */
export { seededRandom } from "./seeded-random.ts";
export { VirtualClock } from "./virtual-clock.ts";
