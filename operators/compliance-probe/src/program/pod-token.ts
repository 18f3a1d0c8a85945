/** The files of the service account, which the kubelet mounts. */
import { readFile } from "node:fs/promises";

const folder = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Undefined when the pod has none. */
export function readToken(): Promise<string | undefined> {
  return readFile(`${folder}/token`, "utf8").catch(() => undefined);
}

/** The certificate of the API server's authority. */
export function readAuthority(): Promise<string | undefined> {
  return readFile(`${folder}/ca.crt`, "utf8").catch(() => undefined);
}
