/** The server outside of the cluster that its instances need now, and the Secrets that their pods mount. */
import type { OtherServer } from "../instance/instance-protocol.ts";
import { otherServerFiles } from "./names.ts";
import { addressOf, type Described } from "./other-server.ts";
import type { PostgresCluster } from "./postgres-cluster.ts";

/** One file of one Secret. */
export interface MountedKey {
  /** The field of the spec that names it. */
  readonly field: string;
  readonly name: string;
  readonly key: string;
  readonly path: string;
}

/** The server that instances made from now on connect to. */
export interface ServerInUse {
  /** The field of the spec that describes it. */
  readonly field: string;
  readonly server: OtherServer;
  readonly keys: readonly MountedKey[];
}

/** Undefined when the cluster needs no other server, or none any more. */
export function otherServerOf({ spec, status }: PostgresCluster): ServerInUse | undefined {
  const hasData = status?.systemID !== undefined || status?.restored !== undefined;
  if (spec.bootstrap === undefined || hasData) return undefined;
  const { import: wantedImport, baseBackup } = spec.bootstrap;
  if (wantedImport !== undefined) return inUse("spec.bootstrap.import.from", wantedImport.from);
  return baseBackup === undefined ? undefined : inUse("spec.bootstrap.baseBackup.from", baseBackup.from);
}

function inUse(field: string, described: Described): ServerInUse {
  return { field, server: addressOf(described), keys: keysOf(field, described) };
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
