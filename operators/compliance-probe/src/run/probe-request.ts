/** What the operator asks of the pod of a run, as environment variables of its containers. */
import { z } from "zod";

export const requestVariable = "COMPLIANCE_PROBE";

/** Names of the pod itself, which the kubelet fills in. */
export const podVariables: Readonly<Record<"namespace" | "serviceAccount" | "pod" | "node" | "nodeAddress", string>> = {
  namespace: "PROBE_NAMESPACE",
  serviceAccount: "PROBE_ACCOUNT",
  pod: "PROBE_POD",
  node: "PROBE_NODE",
  nodeAddress: "PROBE_NODE_ADDRESS",
};

/** Some acts need a folder to write to, and the root file system may be read-only. */
export const scratchFolder = "/run/compliance-probe";

const schema = z.object({
  acts: z.array(z.string()),
  otherNamespace: z.string(),
  deniedServices: z.array(z.string()),
  image: z.string(),
  /** How long the report may be. */
  reportBytesMax: z.int(),
});
export type ProbeRequest = z.infer<typeof schema>;

export function requestText(request: ProbeRequest): string {
  return JSON.stringify(request);
}

/** Throws for text that no operator of this release has written. */
export function parseRequest(text: string): ProbeRequest {
  return schema.parse(JSON.parse(text));
}
