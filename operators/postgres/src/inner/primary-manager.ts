/** Where the manager of the primary is, and the certificate with which the operator asks it. */
import { instanceAccess } from "@setpoint/data-service";
import type { ReconcileContext } from "setpoint";
import { Pod } from "setpoint/kinds";
import type { ManagerAddress } from "../instance/inner-gateway.ts";
import { certificateSecret } from "../kind/certificates.ts";
import { managerAddress } from "../kind/instance-pod.ts";
import { serverName } from "../kind/names.ts";
import type { ServedCluster } from "./served-cluster.ts";

export type Serving = Extract<ServedCluster, { readonly kind: "serving" }>;

/** Reads from the server, because neither the pod nor the Secret is this controller's own. */
export async function primaryManager({ cluster, asked }: Serving, context: ReconcileContext): Promise<ManagerAddress> {
  const { name, namespace } = cluster.metadata;
  const access = instanceAccess(context, namespace);
  const [files, pod] = await Promise.all([
    access.secret(certificateSecret(name, "operator")),
    access.object(Pod, asked.primary),
  ]);
  const text = (file: string): string => Buffer.from(files?.[file] ?? []).toString("utf8");
  const url = managerAddress(pod);
  if (url === undefined) throw new Error(`Cannot reach the primary "${asked.primary}" of PostgresCluster "${name}"`);
  return {
    url,
    certificates: {
      ca: text("ca.crt"),
      certificate: text("tls.crt"),
      key: text("tls.key"),
      serverName: serverName(cluster),
    },
  };
}
