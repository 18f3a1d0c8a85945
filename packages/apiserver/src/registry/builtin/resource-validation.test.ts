import { expect, test } from "vitest";
import { asking, startServer } from "../../assembly/server.fixture.ts";
import recorded from "./fixtures/amounts.json" with { type: "json" };

/** A create with amounts of resources, and what a kube-apiserver answered. */
interface Recorded {
  readonly path: string;
  readonly body: { readonly kind: string };
  readonly code: number;
  readonly message?: string;
}

const admin = { username: "admin", groups: ["system:masters"] };

test.each((recorded as readonly Recorded[]).map((each, index) => [index, each.body.kind, each] as const))(
  "%i: the amounts of a %s are answered as by kube-apiserver",
  async (_index, _kind, { path, body, code, message }) => {
    const { server } = startServer();
    const answer = await asking<{ message?: string }>(server, admin)("POST", path, body);
    expect([answer.code, answer.body.message]).toEqual([code, message]);
  },
);

test("all that a new node has may be allocated, and its creator's status stays", async () => {
  const { server } = startServer();
  const capacity = { cpu: "2", memory: "1Gi" };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, status: { capacity } };
  const { body } = await asking<{ status: object }>(server, admin)("POST", "/api/v1/nodes", node);
  expect(body.status).toMatchObject({ capacity, allocatable: capacity });
});

test("amounts in a template of pods are rounded up to thousandths, others are not", async () => {
  const { server } = startServer();
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1u" } } };
  const template = {
    spec: {
      overhead: { cpu: "1u" },
      containers: [{ name: "a", image: "a", resources: { limits: { cpu: "0.0001", memory: null } } }],
      volumes: [
        { name: "e", ephemeral: { volumeClaimTemplate: { spec: claim } } },
        { name: "d", emptyDir: { sizeLimit: "1u" } },
      ],
    },
  };
  const body = { apiVersion: "v1", kind: "PodTemplate", metadata: { name: "t" }, template };
  const path = "/api/v1/namespaces/default/podtemplates";
  const answer = await asking<typeof body>(server, admin)("POST", path, body);
  const resources = { limits: { cpu: "1m", memory: "0" } };
  expect(answer.body.template.spec).toMatchObject({
    overhead: { cpu: "1m" },
    containers: [{ resources }],
    volumes: [
      { ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: "1m" } } } } } },
      { emptyDir: { sizeLimit: "1u" } },
    ],
  });
});

test("a quota of which the scopes change, or that is given a negative status, is refused", async () => {
  const { server } = startServer();
  const ask = asking<{ message?: string; metadata: object }>(server, admin);
  const path = "/api/v1/namespaces/default/resourcequotas";
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q" }, spec: { hard: { pods: "1" } } };
  await ask("POST", path, quota);
  const changed = await ask("PATCH", `${path}/q`, { spec: { scopes: ["BestEffort"] } });
  expect(changed.body.message).toBe(
    'ResourceQuota "q" is invalid: spec.scopes: Invalid value: ["BestEffort"]: field is immutable',
  );
  const status = await ask("PATCH", `${path}/q/status`, { status: { used: { pods: "-1" } } });
  expect(status.body.message).toContain('status.used[pods]: Invalid value: "-1": must be greater than or equal to 0');
});
