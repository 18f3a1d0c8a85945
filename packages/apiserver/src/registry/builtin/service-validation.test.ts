/** Updates of Services, each as a kube-apiserver answered it. */
import { expect, test } from "vitest";
import { serviceIpAllocator } from "../../admission/service-ip-allocator.ts";
import { asking, startServer } from "../../assembly/server.fixture.ts";

interface Answer {
  readonly message?: string;
  readonly spec: { readonly clusterIP?: string; readonly clusterIPs?: readonly string[]; readonly ports?: unknown };
}

const path = "/api/v1/namespaces/default/services";

async function start(name: string, spec: object) {
  const { server } = startServer({ admission: [serviceIpAllocator("10.0.0.0/24")] });
  const ask = asking<Answer>(server, { username: "admin", groups: ["system:masters"] });
  const service = { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
  expect((await ask("POST", path, service)).code).toBe(201);
  return async (change: object) => (await ask("PATCH", `${path}/${name}`, { spec: change })).body;
}

const refusal = (of: string): string => `Service "a" is invalid: ${of}`;

test.each([
  [{ clusterIP: "10.0.0.78" }, 'spec.clusterIPs[0]: Invalid value: ["10.0.0.78"]: may not change once set'],
  [{ clusterIP: "None" }, 'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'],
  [{ clusterIPs: ["10.0.0.79"] }, 'spec.clusterIPs: Invalid value: ["10.0.0.79"]: first value must match `clusterIP`'],
  [
    { ipFamilies: ["IPv6"] },
    'spec.clusterIPs[0]: Invalid value: "10.0.0.77": expected an IPv6 value as indicated by `ipFamilies[0]`',
  ],
  [
    { ipFamilyPolicy: "RequireDualStack" },
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
  ],
])("the addresses of a Service do not become %j", async (change, why) => {
  const patch = await start("a", { clusterIP: "10.0.0.77" });
  expect((await patch(change)).message).toBe(refusal(why));
});

test.each([{ clusterIP: null }, { clusterIP: "" }, { clusterIPs: [] }, { clusterIP: null, clusterIPs: null }])(
  "an update to %j keeps the addresses that were allocated",
  async (change) => {
    const patch = await start("a", { clusterIP: "10.0.0.77" });
    expect((await patch(change)).spec).toMatchObject({ clusterIP: "10.0.0.77", clusterIPs: ["10.0.0.77"] });
  },
);

const exposing = ["allocateLoadBalancerNodePorts", "externalTrafficPolicy", "healthCheckNodePort", "loadBalancerClass"];
const local = { type: "LoadBalancer", loadBalancerClass: "x.io/y", externalTrafficPolicy: "Local" };
const away = { externalName: "a.example.com" };

test.each([
  [{ type: "NodePort" }, { type: "ClusterIP" }, []],
  [{ type: "NodePort" }, { type: "LoadBalancer" }, ["allocateLoadBalancerNodePorts", "externalTrafficPolicy"]],
  [{ type: "NodePort" }, { type: "ExternalName", ...away }, []],
  [{ type: "LoadBalancer" }, { type: "ClusterIP" }, []],
  [{ type: "LoadBalancer" }, { type: "NodePort" }, ["externalTrafficPolicy"]],
  [{ type: "LoadBalancer" }, { type: "ExternalName", ...away }, []],
  [local, { type: "NodePort" }, ["externalTrafficPolicy"]],
  [local, { type: "ClusterIP" }, []],
])("a change of the type takes the fields of the former one away: %j %j", async (spec, change, kept) => {
  const patch = await start("a", spec);
  const changed = await patch(change);
  expect(changed.spec).toMatchObject(change);
  expect(exposing.filter((field) => field in changed.spec)).toEqual(kept);
  const hasNodePorts = JSON.stringify(changed.spec.ports).includes("nodePort");
  expect(hasNodePorts).toBe(!["ClusterIP", "ExternalName"].includes(change.type));
});

test("a field of the former type that the client changes too is refused", async () => {
  const patch = await start("a", { type: "LoadBalancer" });
  const change = { type: "ClusterIP", externalTrafficPolicy: "Local", allocateLoadBalancerNodePorts: false };
  const { message } = await patch(change);
  expect(message).toContain("spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type`");
  expect(message).toContain(
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-access',
  );
});

test("a Service that is exposed no longer loses its node ports, but takes no new one", async () => {
  const patch = await start("a", { type: "NodePort", ports: [{ port: 80, nodePort: 30_777 }] });
  const spec = { type: "ClusterIP", externalTrafficPolicy: null };
  const other = await patch({ ...spec, ports: [{ port: 80, nodePort: 30_778 }] });
  expect(other.message).toBe(refusal("spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"));
  expect((await patch(spec)).spec.ports).toEqual([{ port: 80, protocol: "TCP", targetPort: 80 }]);
});
