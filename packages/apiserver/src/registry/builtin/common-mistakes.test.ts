import { expect, test } from "vitest";
import { defaultTolerationSeconds } from "../../admission/default-toleration-seconds.ts";
import { asking, startServer } from "../../assembly/server.fixture.ts";

interface Seen {
  readonly message?: string;
  readonly metadata: { readonly labels?: object };
  readonly spec: { readonly tolerations?: readonly { readonly key: string }[] };
}

function start(): ReturnType<typeof asking<Seen>> {
  const { server } = startServer({ admission: [defaultTolerationSeconds] });
  return asking<Seen>(server, { username: "admin", groups: ["system:masters"] });
}

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } };
const selector = { matchLabels: { a: "b" } };
const rollingUpdate = { maxSurge: 0, maxUnavailable: 0 };
const ports = [{ port: 80 }];
const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" };
const sysctls = [
  { name: "foo-", value: "1" },
  { name: "safe-and-unsafe", value: "1" },
  { name: "kernel.shm_rmid_forced", value: "1" },
  { name: "kernel.shm_rmid_forced", value: "0" },
  { name: "net/ipv4/ip_unprivileged_port_start", value: "0" },
];
const rbac = "/apis/rbac.authorization.k8s.io/v1";

test.each([
  [
    "a Secret that is not encoded",
    "/api/v1/namespaces/n/secrets",
    { data: { a: "secret!" } },
    "illegal base64 data at input byte 6",
  ],
  [
    "a type of Services that there is not",
    "/api/v1/namespaces/n/services",
    { spec: { type: "Foo", ports } },
    'spec.type: Unsupported value: "Foo"',
  ],
  [
    "an affinity that there is not",
    "/api/v1/namespaces/n/services",
    { spec: { sessionAffinity: "Foo", ports } },
    'spec.sessionAffinity: Unsupported value: "Foo": supported values: "ClientIP", "None"',
  ],
  [
    "a rollout that can never begin",
    "/apis/apps/v1/namespaces/n/deployments",
    { spec: { selector, template, strategy: { type: "RollingUpdate", rollingUpdate } } },
    "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
  ],
  [
    "a pod whose kernel settings have no such names, or belong to the host",
    "/api/v1/namespaces/n/pods",
    { spec: { ...template.spec, hostNetwork: true, securityContext: { sysctls } } },
    '[spec.securityContext.sysctls[0].name: Invalid value: "foo-": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$, spec.securityContext.sysctls[3].name: Duplicate value: "kernel.shm_rmid_forced", spec.securityContext.sysctls[4].name: Invalid value: "net/ipv4/ip_unprivileged_port_start": may not be specified when \'hostNetwork\' is true]',
  ],
])("%s is refused", async (_name, path, body, why) => {
  const answer = await start()("POST", path, { metadata: { name: "a" }, ...body });
  expect(answer.code).toBeGreaterThanOrEqual(400);
  expect(answer.body.message).toContain(why);
});

test("what a real server takes is taken: names of Services that begin with a digit, accounts of a binding's namespace", async () => {
  const ask = start();
  const service = { metadata: { name: "1a" }, spec: { clusterIP: "None", ports } };
  expect((await ask("POST", "/api/v1/namespaces/n/services", service)).code).toBe(201);
  const subjects = [{ kind: "ServiceAccount", name: "u" }];
  const binding = { metadata: { name: "a" }, roleRef, subjects };
  expect((await ask("POST", `${rbac}/namespaces/n/rolebindings`, binding)).code).toBe(201);
  const wide = { ...binding, roleRef: { ...roleRef, kind: "ClusterRole" } };
  expect((await ask("POST", `${rbac}/clusterrolebindings`, wide)).body.message).toContain(
    "subjects[0].namespace: Required",
  );
});

test("a Job without labels has those of its pods", async () => {
  const job = {
    metadata: { name: "a" },
    spec: { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } },
  };
  const { body } = await start()("POST", "/apis/batch/v1/namespaces/n/jobs", job);
  expect(body.metadata.labels).toMatchObject({ a: "b", "job-name": "a" });
});

test("a Pod that is given other tolerations keeps those that everybody has", async () => {
  const ask = start();
  const path = "/api/v1/namespaces/n/pods";
  await ask("POST", path, { metadata: { name: "a" }, spec: { containers: [{ name: "a", image: "a" }] } });
  const { body } = await ask("PATCH", `${path}/a`, { spec: { tolerations: [{ key: "z", operator: "Exists" }] } });
  expect(body.spec.tolerations?.map(({ key }) => key)).toEqual([
    "z",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
  ]);
});

test("a StatefulSet mounts the claims of its templates, which its template has no volumes for", async () => {
  const ask = start();
  const containers = [{ name: "a", image: "a", volumeMounts: [{ name: "www", mountPath: "/www" }] }];
  const spec = {
    serviceName: "a",
    selector,
    template: { ...template, spec: { containers } },
    volumeClaimTemplates: [{ metadata: { name: "www" }, spec: { accessModes: ["ReadWriteOnce"] } }],
  };
  const { code } = await ask("POST", "/apis/apps/v1/namespaces/n/statefulsets", { metadata: { name: "a" }, spec });
  expect(code).toBe(201);
});
