/** A tenant who may create pods and workloads in a namespace with a level of the Pod Security Standards. */
import type { ControlPlane } from "@setpoint/controlplane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ask, accountUser, arranging, asking, startPlane } from "./authorization.ts";

let plane: ControlPlane;
let arrange: Ask;
let tenant: Ask;
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const label = (mode: string): string => `pod-security.kubernetes.io/${mode}`;

async function namespace(name: string, labels: Record<string, string>): Promise<void> {
  await arrange("POST", "/api/v1/namespaces", { metadata: { name, labels } });
  await arrange("POST", `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
  await arrange("POST", `${rbac}/namespaces/${name}/rolebindings`, {
    metadata: { name: "tenant" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [{ kind: "ServiceAccount", namespace: "default", name: "tenant" }],
  });
}

beforeAll(async () => {
  plane = await startPlane();
  arrange = arranging(plane);
  tenant = asking(plane, accountUser("default", "tenant"));
  await namespace("restricted", { [label("enforce")]: "restricted" });
  await namespace("baseline", { [label("enforce")]: "baseline", [label("warn")]: "restricted" });
  await namespace("odd", { [label("enforce")]: "baseline" });
  await namespace("open", {});
});

afterAll(() => plane[Symbol.asyncDispose]());

const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
const hardened = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  containers: [{ name: "c", image: "i", securityContext }],
};
const privileged = { containers: [{ name: "c", image: "i", securityContext: { privileged: true } }] };
const pods = (name: string): string => `/api/v1/namespaces/${name}/pods`;

test("a pod outside of the enforced level is refused, in upstream's words", async () => {
  const answer = await tenant("POST", pods("restricted"), { metadata: { name: "x" }, spec: privileged });
  expect(answer.code).toBe(403);
  expect(answer.message).toBe(
    'pods "x" is forbidden: violates PodSecurity "restricted:latest": ' +
      'privileged (container "c" must not set securityContext.privileged=true), ' +
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  );
  const hostPath = { ...hardened, volumes: [{ name: "v", hostPath: { path: "/" } }] };
  const hostNetwork = { ...hardened, hostNetwork: true };
  for (const spec of [hostPath, hostNetwork])
    expect((await tenant("POST", pods("baseline"), { metadata: { name: "x" }, spec })).code).toBe(403);
});

test("a debug container cannot bring in what its pod could not", async () => {
  expect((await tenant("POST", pods("restricted"), { metadata: { name: "ok" }, spec: hardened })).code).toBe(201);
  const debug = { name: "d", image: "i", securityContext: { privileged: true } };
  const path = `${pods("restricted")}/ok/ephemeralcontainers`;
  // Only an administrator may reach the subresource here, and is held to the level all the same.
  const answer = await asking(plane, { username: "root", groups: ["system:masters"] })("PATCH", path, {
    spec: { ephemeralContainers: [debug] },
  });
  expect([answer.code, answer.message]).toEqual([
    403,
    expect.stringContaining('violates PodSecurity "restricted:latest"'),
  ]);
});

test("a pod inside the enforced level gets the warnings of a stricter one, and a workload only warnings", async () => {
  const plain = { containers: [{ name: "c", image: "i" }] };
  const pod = await tenant("POST", pods("baseline"), { metadata: { name: "w" }, spec: plain });
  expect([pod.code, pod.warnings]).toEqual([
    201,
    expect.stringContaining('would violate PodSecurity \\"restricted:latest\\"'),
  ]);
  const metadata = { labels: { app: "w" } };
  const deployment = { selector: { matchLabels: metadata.labels }, template: { metadata, spec: privileged } };
  const body = { metadata: { name: "w" }, spec: deployment };
  const answer = await tenant("POST", "/apis/apps/v1/namespaces/restricted/deployments", body);
  expect([answer.code, answer.warnings]).toEqual([201, expect.stringContaining("would violate PodSecurity")]);
});

test("a tenant cannot lower the level of its namespace", async () => {
  const lower = { metadata: { labels: { [label("enforce")]: "privileged" } } };
  expect((await tenant("PATCH", "/api/v1/namespaces/restricted", lower)).code).toBe(403);
});

test("a wrong label is refused, and a namespace that has one already is not open", async () => {
  const wrong = { metadata: { name: "wrong", labels: { [label("enforce")]: "restrictd" } } };
  const answer = await asking(plane, { username: "root", groups: ["system:masters"] })(
    "POST",
    "/api/v1/namespaces",
    wrong,
  );
  expect([answer.code, answer.message]).toEqual([
    422,
    'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "restrictd": must be one of privileged, baseline, restricted',
  ]);
});

test("who tightens a level learns which pods would be refused", async () => {
  await arrange("POST", pods("odd"), {
    metadata: { name: "plain" },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  const tighter = { metadata: { labels: { [label("enforce")]: "restricted" } } };
  const { warnings } = await arrange("PATCH", "/api/v1/namespaces/odd", tighter);
  expect(warnings).toContain('existing pods in namespace \\"odd\\" violate the new PodSecurity enforce level');
  expect(warnings).toContain(
    "plain: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true",
  );
});

test("a namespace without labels is open", async () => {
  expect((await tenant("POST", pods("open"), { metadata: { name: "p" }, spec: privileged })).code).toBe(201);
});
