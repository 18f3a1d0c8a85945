/** What a forbidden act is: facts that people read, and a function that tries it in a pod. */
import type { ProbedPod } from "./probed-pod.ts";

/** The container of a run that tries the act. One that ends early loses the acts of its own group alone. */
export type ActGroup = "api" | "rights" | "files" | "kernel" | "network" | "limits";

export const actGroups: readonly ActGroup[] = ["api", "rights", "files", "kernel", "network", "limits"];

/** How bad it is when the act is allowed. */
export type Severity = "high" | "medium" | "low";

export type Verdict = "Denied" | "Allowed" | "Untried";

/** What became of one try. */
export interface Attempt {
  readonly verdict: Verdict;
  /** One sentence or the words of the server; it has no secrets. */
  readonly reason: string;
}

/** An act that a workload must not be able to do. */
export interface Act {
  /** Kebab-case; it is in the spec, in the status and in reports. */
  readonly name: string;
  readonly group: ActGroup;
  readonly severity: Severity;
  /** What it tries, as an infinitive: "list the Secrets of all namespaces". */
  readonly tries: string;
  /** Why it must be denied. */
  readonly because: string;
  /** What denies it. */
  readonly remedy: string;
  attempt(this: void, pod: ProbedPod): Promise<Attempt>;
}

export function denied(reason: string): Attempt {
  return { verdict: "Denied", reason };
}

export function allowed(reason: string): Attempt {
  return { verdict: "Allowed", reason };
}

export function untried(reason: string): Attempt {
  return { verdict: "Untried", reason };
}
