/** The name of the port of a Service that all workloads of a kind and a namespace share. */
import type { KindRef, KubeObject, ReconcileContext, Stored } from "setpoint";

interface WithPort extends KubeObject {
  readonly spec: { readonly portName: string; readonly serviceName?: string | undefined };
}

/** That of the first workload, so that two of them do not change it in turn. */
export function sharedPortName<T extends WithPort>(
  kind: KindRef<T>,
  workload: Stored<T>,
  context: ReconcileContext,
): string {
  const sharing = context.list(kind).filter(({ spec }) => spec.serviceName === undefined);
  const [first] = sharing.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return (first ?? workload).spec.portName;
}
