import { expect, test } from "vitest";
import { otherServerKeys } from "./other-server-keys.ts";
import { PostgresCluster } from "./postgres-cluster.ts";

type Bootstrap = NonNullable<Parameters<typeof PostgresCluster>[0]["spec"]["bootstrap"]>;

function cluster(bootstrap: Bootstrap | undefined, status: object = {}): PostgresCluster {
  const spec = { storage: { size: "1Gi" }, ...(bootstrap === undefined ? {} : { bootstrap }) };
  return { ...PostgresCluster({ name: "orders", spec }), status } as PostgresCluster;
}

const from = { host: "legacy", certificate: { name: "copier" }, ca: { name: "legacy-ca" } };

test("pods mount each key of each Secret, and errors name the field that has it", () => {
  expect(otherServerKeys(cluster({ baseBackup: { from } }))).toEqual([
    { field: "spec.bootstrap.baseBackup.from.ca", name: "legacy-ca", key: "ca.crt", path: "ca.crt" },
    { field: "spec.bootstrap.baseBackup.from.certificate", name: "copier", key: "tls.crt", path: "tls.crt" },
    { field: "spec.bootstrap.baseBackup.from.certificate", name: "copier", key: "tls.key", path: "tls.key" },
  ]);
});

test("an import has its own field and password", () => {
  const imported = { from: { host: "legacy", user: "boss", password: { name: "boss", key: "word" } } };
  expect(otherServerKeys(cluster({ import: imported }))).toEqual([
    { field: "spec.bootstrap.import.from.password", name: "boss", key: "word", path: "password" },
  ]);
});

test.each([
  ["that begins empty", undefined, {}],
  ["that has its data", { baseBackup: { from } }, { systemID: "7" }],
  ["that runs on those of a restore", { baseBackup: { from } }, { restored: "r1" }],
])("a cluster %s needs no other server", (_, bootstrap, status) => {
  expect(otherServerKeys(cluster(bootstrap, status))).toEqual([]);
});
