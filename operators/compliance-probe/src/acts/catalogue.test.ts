import { expect, test } from "vitest";
import { fakePod, type FakePod, openPod, refusal } from "../testing/fake-pod.ts";
import { catalogue, findAct } from "./catalogue.ts";

test("the catalogue has at least 25 acts, each with its own name and complete facts", () => {
  expect(catalogue.length).toBeGreaterThanOrEqual(25);
  expect(new Set(catalogue.map(({ name }) => name)).size).toBe(catalogue.length);
  for (const { name, tries, because, remedy } of catalogue) {
    expect(name).toMatch(/^[a-z][a-z-]+$/);
    for (const text of [tries, because, remedy]) expect(text, name).toMatch(/^\S.{5,}[^.]$/);
  }
});

test.each(catalogue.map((act) => [act.name, act] as const))("%s is denied in a protected pod", async (_, act) => {
  expect(await act.attempt(fakePod())).toMatchObject({ verdict: "Denied" });
});

test.each(catalogue.map((act) => [act.name, act] as const))("%s is allowed in an open pod", async (_, act) => {
  expect(await act.attempt(openPod)).toMatchObject({ verdict: "Allowed" });
});

const none = { code: 404, message: 'pods "compliance-probe-none" not found', body: "" };
const busy = { code: 503, message: "busy", body: "" };
const noCall = async (): Promise<undefined> => undefined;

const rows: readonly (readonly [string, string, FakePod, string])[] = [
  // act, situation, pod, verdict and reason
  ["pod-create", "no token", { api: noCall }, "Denied the pod has no token for the API server"],
  [
    "pod-create",
    "no way",
    { api: () => Promise.reject(refusal("ETIMEDOUT")) },
    "Denied the pod does not reach the API server: ETIMEDOUT",
  ],
  [
    "secret-get-other-namespace",
    "a missing object",
    { api: async () => none },
    'Allowed the API server answered 404 pods "compliance-probe-none" not found',
  ],
  ["node-list", "a busy server", { api: async () => busy }, "Untried the API server answered 503 busy"],
  ["mount", "a Node without calls", { call: noCall }, "Untried the Node of the image has no module node:ffi"],
  [
    "kernel-module",
    "a permitted call with no sense",
    { call: async () => ({ result: -1, error: "ENOEXEC" }) },
    "Allowed init_module is permitted: ENOEXEC",
  ],
  [
    "become-root",
    "a user namespace",
    { files: { read: async () => "0 100000 65536\n" } },
    "Denied user 0 of the pod is user 100000 of the node",
  ],
  [
    "host-devices",
    "a disk without rights",
    { files: { blockDevices: async () => ["/dev/sda"] } },
    "Denied /dev/sda: EACCES",
  ],
  [
    "device-create",
    "a file that cannot be opened",
    { call: async () => ({ result: 0, error: undefined }) },
    "Denied a device file can be created and not be opened: EACCES",
  ],
  [
    "kubelet-port",
    "a login is needed",
    { fetch: async () => ({ code: 401, message: "Unauthorized", body: "" }) },
    "Denied https://10.0.0.1:10250/pods answered 401 Unauthorized",
  ],
  [
    "denied-service-reach",
    "no service",
    { surroundings: { ...fakePod().surroundings, deniedServices: [] } },
    "Untried spec.deniedServices names no service",
  ],
  [
    "denied-service-reach",
    "a refused connection",
    { reach: () => Promise.reject(refusal("ECONNREFUSED")) },
    "Denied vault.secret.svc:8200: ECONNREFUSED, by a policy or because nothing listens there",
  ],
  [
    "cgroup-write",
    "a folder that is no control group",
    { files: { read: () => Promise.reject(refusal("ENOENT")), create: async () => {} } },
    "Denied the pod sees no control group",
  ],
  [
    "memory-limit",
    "no control group",
    { files: { read: () => Promise.reject(refusal("ENOENT")) } },
    "Untried the pod does not see its control group",
  ],
  ["process-limit", "a limit", { startThreads: async () => 99 }, "Denied no more than 99 threads could be started"],
];

test.each(rows)("%s with %s", async (name, _, pod, expected) => {
  const attempt = await findAct(name)?.attempt(fakePod(pod));
  expect(`${attempt?.verdict} ${attempt?.reason}`).toBe(expected);
});
