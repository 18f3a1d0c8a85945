/** The program in transfer pods; see the README of the package. */
export type { AgentEnvironment, EngineAgent, Snapshot, SnapshotFacts, VerifiedSnapshot } from "../engine/agent.ts";
export { InvalidSnapshotError } from "../engine/agent.ts";
export type { AgentRequest, AgentResult, StoredBackup, StoreRequest } from "./request.ts";
export { agentPaths, agentRequest, agentResult, requestVariable, storedBackup } from "./request.ts";
