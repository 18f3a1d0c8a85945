import { requestsOf } from "../amounts.ts";
import type { Filter } from "./filter.ts";

/** Pods that a node takes when it does not say. */
const podsDefault = 110;

/** What the pods of a node ask for is at most what the node has. */
export const resourcesSuffice: Filter = (pod, { allocatable, used }) =>
  Object.entries(requestsOf(pod)).flatMap(([name, amount]) => {
    const available = allocatable[name] ?? (name === "pods" ? podsDefault : 0);
    if (amount === 0 || (used[name] ?? 0) + amount <= available) return [];
    const reason = name === "pods" ? "Too many pods" : `Insufficient ${name}`;
    return [{ reason, preemptible: amount <= available }];
  });
