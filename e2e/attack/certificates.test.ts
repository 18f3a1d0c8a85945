/**
 * A user who may request certificates tries to become another user by them. The test discards the private
 * keys.
 */
import { X509Certificate } from "node:crypto";
import type { ControlPlane } from "@setpoint/controlplane";
import { startControlPlane } from "@setpoint/controlplane";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../node/test-cluster.ts";
import { type Answer, type Ask, adminUser, arranging, asking, nodeUser } from "./authorization.ts";
import requests from "./certificate-requests.json" with { type: "json" };

const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const clientSigner = "kubernetes.io/kube-apiserver-client";
let plane: ControlPlane;
let arrange: Ask;
let mallory: Ask;

const malloryUser = { username: "mallory", groups: ["dev", "system:authenticated"], extra: { team: ["red"] } };

async function grant(name: string, rules: readonly object[]): Promise<void> {
  await arrange("POST", `${rbac}/clusterroles`, { metadata: { name }, rules });
  await arrange("POST", `${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "mallory" }],
  });
}

beforeAll(async () => {
  plane = await startControlPlane({ https: {} });
  arrange = arranging(plane);
  mallory = asking(plane, malloryUser);
  const apiGroups = ["certificates.k8s.io"];
  const resources = ["", "/approval", "/status"].map((each) => `certificatesigningrequests${each}`);
  await grant("requester", [{ apiGroups, resources, verbs: ["get", "create", "update", "patch"] }]);
});

afterAll(() => plane[Symbol.asyncDispose]());

type Name = keyof typeof requests;

function request(name: string, which: Name, signerName = clientSigner, more: object = {}): object {
  const spec = { request: Buffer.from(requests[which]).toString("base64"), signerName, usages: ["client auth"] };
  return { metadata: { name }, spec: { ...spec, ...more } };
}

const approval = {
  status: { conditions: [{ type: "Approved", status: "True", reason: "Test", message: "by a test" }] },
};

async function issued(name: string): Promise<X509Certificate> {
  const pem = await until(`certificate of ${name}`, 10, async () => {
    const { object } = await arrange("GET", `${path}/${name}`);
    return (object as { readonly status?: { readonly certificate?: string } }).status?.certificate;
  });
  return new X509Certificate(Buffer.from(pem, "base64"));
}

async function failure(name: string): Promise<string> {
  return until(`refusal of ${name}`, 10, async () => {
    const { object } = await arrange("GET", `${path}/${name}`);
    const { conditions = [] } = (
      object as { readonly status: { readonly conditions?: readonly Record<string, string>[] } }
    ).status;
    return conditions.find(({ type }) => type === "Failed")?.["message"];
  });
}

const text = ({ code, message }: Answer): readonly unknown[] => [code, message];

test("who asks is what the server saw, whatever the request says, and nobody approves it beforehand", async () => {
  const forged = { username: "system:admin", uid: "0", groups: ["system:masters"], extra: { team: ["blue"] } };
  const body = { ...request("identity", "developer", clientSigner, forged), ...approval };
  const { code, object } = await mallory("POST", path, body);
  expect(code).toBe(201);
  expect(object["spec"]).toMatchObject({ username: "mallory", groups: malloryUser.groups, extra: malloryUser.extra });
  expect((object["spec"] as { readonly uid?: string }).uid ?? "").toBe("");
  expect(object["status"]).toEqual({});
});

test("a request does not change after it was made", async () => {
  await mallory("POST", path, request("fixed", "developer"));
  const spec = { request: Buffer.from(requests.masters).toString("base64"), username: "admin" };
  await mallory("PATCH", `${path}/fixed`, { spec, ...approval });
  await mallory("PATCH", `${path}/fixed/status`, { spec, ...approval });
  const { object } = await arrange("GET", `${path}/fixed`);
  expect(object["spec"]).toMatchObject({
    request: Buffer.from(requests.developer).toString("base64"),
    username: "mallory",
  });
  expect((object["status"] as { readonly conditions?: unknown }).conditions ?? []).toEqual([]);
});

test("who may write approvals and status still needs the signer's permission", async () => {
  await mallory("POST", path, request("unapproved", "developer"));
  expect(text(await mallory("PATCH", `${path}/unapproved/approval`, approval))).toEqual([
    403,
    `certificatesigningrequests.certificates.k8s.io "unapproved" is forbidden: user not permitted to approve requests with signerName "${clientSigner}"`,
  ]);
  const certificate = { status: { certificate: Buffer.from(plane.caPem).toString("base64") } };
  expect(text(await mallory("PATCH", `${path}/unapproved/status`, certificate))).toEqual([
    403,
    expect.stringContaining(`user not permitted to sign requests with signerName "${clientSigner}"`),
  ]);
  const apply = {
    headers: { "content-type": "application/apply-patch+yaml" },
    query: { fieldManager: "m", force: "true" },
  };
  const whole = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "unapproved" },
  };
  expect((await mallory("PATCH", `${path}/unapproved/approval`, { ...whole, ...approval }, apply)).code).toBe(403);
});

test("nobody gets a certificate for system:masters", async () => {
  expect(text(await asking(plane, adminUser)("POST", path, request("masters", "masters")))).toEqual([
    403,
    expect.stringContaining(`use of ${clientSigner} signer with system:masters group is not allowed`),
  ]);
});

test("a request that is not signed by its own key is refused", async () => {
  const answer = await mallory("POST", path, request("forged", "forged"));
  expect(text(answer)).toEqual([422, expect.stringContaining("its signature is not that of its key")]);
  for (const garbage of ["", "AAAA", Buffer.from(plane.caPem).toString("base64")])
    expect((await mallory("POST", path, request("garbage", "rsa", clientSigner, { request: garbage }))).code).toBe(422);
  const legacy = await mallory("POST", path, request("legacy", "developer", "kubernetes.io/legacy-unknown"));
  expect(text(legacy)).toEqual([
    422,
    expect.stringContaining("the legacy signerName is not allowed via this API version"),
  ]);
});

test("an approved request gets a certificate of exactly that user, for clients alone, for no longer than asked", async () => {
  await mallory("POST", path, request("good", "developer", clientSigner, { expirationSeconds: 600 }));
  await arrange("PATCH", `${path}/good/approval`, approval);
  const certificate = await issued("good");
  expect(certificate.subject).toBe("O=dev\nO=qa\nCN=bob");
  expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  expect(certificate.ca).toBe(false);
  expect(certificate.checkIssued(new X509Certificate(plane.caPem))).toBe(true);
  expect(Date.parse(certificate.validTo) - Date.now()).toBeLessThanOrEqual(600_000);
});

test.each([
  ["usages", "developer", clientSigner, { usages: ["client auth", "cert sign"] }, "invalid usages"],
  ["server", "developer", clientSigner, { usages: ["server auth"] }, "invalid usages"],
  [
    "not-node",
    "developer",
    "kubernetes.io/kube-apiserver-client-kubelet",
    {},
    "subject organization is not system:nodes",
  ],
  [
    "with-names",
    "serving",
    "kubernetes.io/kube-apiserver-client-kubelet",
    {},
    "DNS and IP subjectAltNames are not allowed",
  ],
  [
    "no-names",
    "servingWithoutNames",
    "kubernetes.io/kubelet-serving",
    { usages: ["server auth"] },
    "DNS or IP subjectAltName is required",
  ],
  ["client-of-serving", "serving", "kubernetes.io/kubelet-serving", {}, "usages did not match"],
  ["uri", "uri", clientSigner, {}, "email or URI subjectAltNames are not supported"],
] as const)("an approved request beyond its signer's rules fails (%s)", async (name, which, signer, more, why) => {
  await mallory("POST", path, request(name, which, signer, more));
  await arrange("PATCH", `${path}/${name}/approval`, approval);
  expect(await failure(name)).toContain(why);
});

test("a node asks for certificates of its own name alone", async () => {
  const node = asking(plane, nodeUser("mine"));
  const kubelet = "kubernetes.io/kube-apiserver-client-kubelet";
  expect((await node("POST", path, request("own-node", "node", kubelet))).code).toBe(201);
  expect(text(await node("POST", path, request("other-node", "otherNode", kubelet)))).toEqual([
    403,
    expect.stringContaining('can only create a node CSR with CN=system:node:mine, got CN="system:node:other"'),
  ]);
  await node(
    "POST",
    path,
    request("serving", "serving", "kubernetes.io/kubelet-serving", { usages: ["server auth", "digital signature"] }),
  );
  await arrange("PATCH", `${path}/serving/approval`, approval);
  const certificate = await issued("serving");
  expect([certificate.keyUsage, certificate.subjectAltName]).toEqual([
    ["1.3.6.1.5.5.7.3.1"],
    "DNS:mine, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
  ]);
});
