import type { Container, Pod, Probe } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";

/** What probes and lifecycle hooks have in common: the action itself. */
export type ProbeHandler = Pick<Probe, "exec" | "grpc" | "httpGet" | "tcpSocket">;

/** Namespace, name and UID of an object whose metadata the server has filled in. */
export function podIdentity(pod: KubeObject): {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
} {
  const { namespace, name, uid } = pod.metadata;
  return { namespace: namespace ?? "default", name: name ?? "", uid: uid ?? "" };
}

/** The pod's own host name. */
export function podHostname(pod: Pod): string {
  return (pod.spec.hostname ?? pod.metadata.name ?? "pod").slice(0, 63);
}

export function isSidecar(container: Container): boolean {
  return container.restartPolicy === "Always";
}
