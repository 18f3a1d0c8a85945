import type { UserInfo } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { bootstrap } from "../assembly/bootstrap.ts";
import { startServer } from "../assembly/server.fixture.ts";
import { createOwnerReferencesPlugin } from "./owner-references-permission.ts";

async function createOwned(mayUpdateFinalizers: boolean, blockOwnerDeletion: boolean): Promise<number> {
  const { host, storage, server } = startServer();
  await bootstrap({ storage, host });
  server.addAdmission(
    createOwnerReferencesPlugin(
      { authorize: ({ subresource }) => ({ allowed: subresource !== "finalizers" || mayUpdateFinalizers }) },
      server.registry,
    ),
  );
  const user: UserInfo = { username: "operator", groups: [] };
  const owner = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: "web",
    uid: "u1",
    controller: true,
    blockOwnerDeletion,
  };
  const body = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "child", namespace: "default", ownerReferences: [owner] },
  };
  const answer = await server
    .transport(user)
    .send({ method: "POST", path: "/api/v1/namespaces/default/configmaps", body });
  return answer.status;
}

test("a child that blocks its owner's deletion needs the right to set the owner's finalizers", async () => {
  expect(await createOwned(false, true)).toBe(403);
  expect(await createOwned(true, true)).toBe(201);
});

test("a child that does not block its owner's deletion needs no right on the owner", async () => {
  expect(await createOwned(false, false)).toBe(201);
});
