/** The simulated twin of the host: virtual time and randomness from a seed. */
export { seededRandom } from "./seeded-random.ts";
export type { LogLine, SimulatedHost } from "./simulated-host.ts";
export { simulatedHost } from "./simulated-host.ts";
export { VirtualClock } from "./virtual-clock.ts";
