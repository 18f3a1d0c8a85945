/** The simulated twin: a transport with faults. */
export type { Fault, FaultPlan, SentRequest } from "./faulty-transport.ts";
export { FaultyTransport } from "./faulty-transport.ts";
