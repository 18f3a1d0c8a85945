/** The real host. */
export { systemClock } from "./system-clock.ts";
export { systemRandom } from "./system-random.ts";
