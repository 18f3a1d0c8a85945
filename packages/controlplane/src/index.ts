/** An embedded Kubernetes control plane; see the package's README. */
export type { ControlPlane, ControlPlaneOptions, NodeKeys } from "./control-plane.ts";
export { startControlPlane } from "./control-plane.ts";
export type { NodeAbilities } from "./notices/notices.ts";
export type { KeyPair } from "@setpoint/host/certificates";
export type { FaultPlan } from "@setpoint/apiserver/http";
export { parseFaultPlan } from "@setpoint/apiserver/http";
