/** The simulated twin of the node: pods whose processes are models, on virtual time. */
export { idleProcess } from "./behaviours.ts";
export type { SimulatedBehaviours, SimulatedProcess } from "./behaviours.ts";
export { simulatedNode } from "./simulated-node.ts";
export type { SimulatedNode, SimulatedNodeOptions } from "./simulated-node.ts";
