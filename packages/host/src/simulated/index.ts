/** The simulated twin of the host: virtual time and randomness from a seed. */
export type { RecordedSpan } from "./recording-tracer.ts";
export { RecordingTracer } from "./recording-tracer.ts";
export { seededRandom } from "./seeded-random.ts";
export type { LogLine, SimulatedHost } from "./simulated-host.ts";
export { simulatedHost } from "./simulated-host.ts";
export { VirtualClock } from "./virtual-clock.ts";
