import { expect, test } from "vitest";
import { bootstrap } from "../assembly/bootstrap.ts";
import { asking, startServer } from "../assembly/server.fixture.ts";
import { claimResizeAdmission } from "./claim-resize-admission.ts";

const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const classes = "/apis/storage.k8s.io/v1/storageclasses";
const notResizable =
  'persistentvolumeclaims "data" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
const notBound =
  'PersistentVolumeClaim "data" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

test.each([
  ["a bound claim of a class that lets volumes grow", "Bound", "growing", "2Gi", 200, undefined],
  ["a bound claim of a class that does not", "Bound", "fixed", "2Gi", 403, notResizable],
  ["a bound claim of a class that is not there", "Bound", "nowhere", "2Gi", 403, notResizable],
  ["a bound claim without a class", "Bound", "", "2Gi", 403, notResizable],
  ["a claim that waits for a volume", "Pending", "growing", "2Gi", 422, notBound],
  ["a claim that asks for what it has", "Bound", "fixed", "1024Mi", 200, undefined],
])("%s grows, or not", async (_, phase, storageClassName, storage, code, message) => {
  const { host, storage: store, server } = startServer({ admission: [claimResizeAdmission] });
  await bootstrap({ storage: store, host });
  const ask = asking<{ message?: string }>(server, { username: "admin", groups: ["system:masters"] });
  for (const [name, allowVolumeExpansion] of [["growing", true] as const, ["fixed", false] as const])
    await ask("POST", classes, { metadata: { name }, provisioner: "p", allowVolumeExpansion });
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage: "1Gi" } } };
  await ask("POST", claims, { metadata: { name: "data" }, spec });
  await ask("PATCH", `${claims}/data/status`, { status: { phase } });
  const grown = await ask("PATCH", `${claims}/data`, { spec: { resources: { requests: { storage } } } });
  expect([grown.code, grown.body.message]).toEqual([code, message]);
});
