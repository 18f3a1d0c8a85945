/** The address and the administrator's credentials of a control plane of ours. */
import type { ControlPlane } from "@setpoint/controlplane";
import { parse } from "yaml";
import type { Server } from "./replay.ts";

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
}

export function serverOf(plane: ControlPlane): Server {
  const { clusters, users } = parse(plane.kubeconfig()) as Kubeconfig;
  const { cluster } = clusters[0];
  const { user } = users[0];
  const pem = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString("utf8");
  return {
    url: cluster["server"] ?? "",
    ca: pem(cluster["certificate-authority-data"]),
    cert: pem(user["client-certificate-data"]),
    key: pem(user["client-key-data"]),
  };
}
