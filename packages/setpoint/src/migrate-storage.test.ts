import { CustomResourceDefinition } from "@setpoint/api";
import { failure, type Transport } from "@setpoint/apimachinery";
import {
  bootstrap,
  builtinResources,
  createApiServer,
  createMemoryStorage,
  serveCustomResources,
  withCrdStrategy,
} from "@setpoint/apiserver";
import { createClient } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineKind } from "./index.ts";
import { migrateStorage } from "./install/index.ts";

const group = "examples.setpoint.dev";
const kindIn = (version: string) =>
  defineKind({ group, version, kind: "Candy", spec: z.object({ flavor: z.string() }) });
const Old = kindIn("v1beta1");
const New = kindIn("v1");

/** Answers the second page once as a server does whose store has forgotten the list's revision. */
function forgetful(inner: Transport): Transport {
  let hasForgotten = false;
  return {
    async send(request, signal) {
      const token = request.query?.["continue"];
      if (hasForgotten || typeof token !== "string") return inner.send(request, signal);
      hasForgotten = true;
      const status = failure(410, "Expired", "The provided continue parameter is too old");
      return { kind: "object", status: 410, headers: {}, object: { ...status, metadata: { continue: token } } };
    },
  };
}

test("objects stored in an old version are rewritten, and the old version can be removed", async () => {
  const host = simulatedHost(1);
  const storage = createMemoryStorage(host);
  const server = createApiServer({ host, storage, builtin: withCrdStrategy(builtinResources()) });
  serveCustomResources(server, { host, storage });
  await bootstrap({ storage, host });
  const client = createClient(server.transport({ username: "admin", groups: ["system:masters"] }), host);
  await client.create(CustomResourceDefinition, Old.crd());
  for (const name of ["a", "b", "c"]) {
    await client.create(Old, Old({ name, namespace: "default", spec: { flavor: "mint" } }));
  }
  const [before] = Old.crd().spec.versions;
  const [after] = New.crd().spec.versions;
  const versions = [{ ...before, storage: false }, after];
  const crd = await client.get(CustomResourceDefinition, { name: `candies.${group}` });
  await client.update(CustomResourceDefinition, { ...crd, spec: { ...crd.spec, versions } } as typeof crd);
  const stored = () => storage.list(`/${group}/candies`).objects.map(({ apiVersion }) => apiVersion);
  expect(stored()).toEqual([`${group}/v1beta1`, `${group}/v1beta1`, `${group}/v1beta1`]);

  const report = await migrateStorage(createClient(forgetful(client.transport), host), `candies.${group}`, {
    pageSize: 2,
  });

  expect(report).toEqual({ version: "v1", before: ["v1beta1", "v1"], rewritten: 3 });
  expect(stored()).toEqual([`${group}/v1`, `${group}/v1`, `${group}/v1`]);
  const migrated = await client.get(CustomResourceDefinition, { name: `candies.${group}` });
  expect(migrated.status?.storedVersions).toEqual(["v1"]);
  const alone = { ...migrated, spec: { ...migrated.spec, versions: New.crd().spec.versions } } as typeof migrated;
  const removed = await client.update(CustomResourceDefinition, alone);
  expect(removed.spec.versions.map(({ name }) => name)).toEqual(["v1"]);
});
