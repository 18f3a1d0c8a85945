import type { HttpMethod } from "@setpoint/apimachinery";
import { systemHost } from "@setpoint/host/system";
import { expect, test, vi } from "vitest";
import { startControlPlane } from "./control-plane.ts";
import { controllersUser } from "./controllers-role.ts";

interface Answer {
  readonly status: number;
  readonly items: readonly { readonly spec?: { readonly nodeName?: string } }[];
}

test("with their role the controllers do their work and are refused nothing", async () => {
  const lines: string[] = [];
  await using plane = await startControlPlane({ host: systemHost({ write: (line) => void lines.push(line) }) });
  const ask = async (method: HttpMethod, path: string, body?: object): Promise<Answer> => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const answer = await plane.transport.send({ method, path, headers, ...(body === undefined ? {} : { body }) });
    const { items = [] } = (answer.kind === "object" ? answer.object : {}) as Partial<Answer>;
    return { status: answer.status, items };
  };
  const shop = "/api/v1/namespaces/shop";
  await ask("POST", "/api/v1/nodes", { metadata: { name: "n" } });
  const resources = { cpu: "8", memory: "16Gi", pods: "110" };
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", message: "a test" }];
  await ask("PATCH", "/api/v1/nodes/n/status", { status: { conditions, allocatable: resources, capacity: resources } });
  await ask("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await ask("POST", "/apis/apps/v1/namespaces/shop/deployments", { metadata: { name: "web" }, spec });
  await ask("POST", `${shop}/services`, {
    metadata: { name: "web" },
    spec: { selector: labels, ports: [{ port: 80 }] },
  });
  await ask("POST", `${shop}/resourcequotas`, { metadata: { name: "q" }, spec: { hard: { pods: "9" } } });
  const bound = async (): Promise<number> =>
    (await ask("GET", `${shop}/pods`)).items.filter((pod) => pod.spec?.nodeName === "n").length;
  await vi.waitFor(async () => expect(await bound()).toBe(2), 10_000);
  const slices = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices";
  await vi.waitFor(async () => expect((await ask("GET", slices)).items).toHaveLength(1), 10_000);
  await ask("DELETE", "/apis/apps/v1/namespaces/shop/deployments/web");
  const sets = "/apis/apps/v1/namespaces/shop/replicasets";
  await vi.waitFor(async () => expect((await ask("GET", sets)).items).toEqual([]), 10_000);
  await ask("POST", "/api/v1/namespaces", { metadata: { name: "gone" } });
  await ask("DELETE", "/api/v1/namespaces/gone");
  await vi.waitFor(async () => expect((await ask("GET", "/api/v1/namespaces/gone")).status).toBe(404), 10_000);
  expect(lines.filter((line) => line.includes("cannot"))).toEqual([]);
}, 40_000);

test.each([
  ["create", "", "secrets", ""],
  ["create", "", "serviceaccounts", "token"],
  ["create", "", "pods", "exec"],
  ["impersonate", "", "users", ""],
  ["escalate", "rbac.authorization.k8s.io", "clusterroles", ""],
  ["bind", "rbac.authorization.k8s.io", "clusterroles", ""],
  ["create", "rbac.authorization.k8s.io", "clusterrolebindings", ""],
  ["approve", "certificates.k8s.io", "signers", ""],
])("the controllers may not %s %s %s/%s", async (verb, group, resource, subresource) => {
  await using plane = await startControlPlane({ controllers: true, host: systemHost({ write: () => {} }) });
  const body = { spec: { resourceAttributes: { verb, group, resource, subresource } } };
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const answer = await plane.transportAs(controllersUser).send({ method: "POST", path, body });
  expect(answer).toMatchObject({ status: 201, object: { status: { allowed: false } } });
});
