/** The Secrets that pods mount for a server outside of the cluster, while their instances need it. */
import { otherServerFiles } from "./names.ts";
import type { Described } from "./other-server.ts";
import type { PostgresCluster } from "./postgres-cluster.ts";

/** One file of one Secret. */
export interface MountedKey {
  /** The field of the spec that names it. */
  readonly field: string;
  readonly name: string;
  readonly key: string;
  readonly path: string;
}

/** Empty when the cluster needs no other server, or none any more. */
export function otherServerKeys({ spec, status }: PostgresCluster): readonly MountedKey[] {
  const hasData = status?.systemID !== undefined || status?.restored !== undefined;
  if (hasData) return [];
  const { import: imported, baseBackup } = spec.bootstrap ?? {};
  if (imported !== undefined) return keysOf("spec.bootstrap.import.from", imported.from);
  return baseBackup === undefined ? [] : keysOf("spec.bootstrap.baseBackup.from", baseBackup.from);
}

function keysOf(field: string, described: Described): readonly MountedKey[] {
  const certificate = "certificate" in described ? described.certificate : undefined;
  const named = {
    password: described.password,
    ca: described.ca,
    certificate: certificate && { name: certificate.name, key: "tls.crt" },
    key: certificate && { name: certificate.name, key: "tls.key" },
  };
  return Object.entries(named).flatMap(([what, secret]) => {
    const file = what as keyof typeof named;
    const of = file === "key" ? "certificate" : file;
    return secret === undefined
      ? []
      : [{ field: `${field}.${of}`, name: secret.name, key: secret.key, path: otherServerFiles[file] }];
  });
}
