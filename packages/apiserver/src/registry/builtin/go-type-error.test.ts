import { expect, test } from "vitest";
import { asking, startServer } from "../../assembly/server.fixture.ts";
import { goTypeError } from "./go-type-error.ts";

interface Seen {
  readonly message?: string;
}

function start(): ReturnType<typeof asking<Seen>> {
  const { server } = startServer();
  return asking<Seen>(server, { username: "admin", groups: ["system:masters"] });
}

const pods = "/api/v1/namespaces/n/pods";
const services = "/api/v1/namespaces/n/services";
const deployments = "/apis/apps/v1/namespaces/n/deployments";
const selector = { matchLabels: { a: "b" } };
const template = (container: object = {}) => ({
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "a", image: "a", ...container }] },
});
const deployment = (spec: object = {}) => ({
  metadata: { name: "d" },
  spec: { selector, template: template(), ...spec },
});
const pod = (spec: object) => ({ metadata: { name: "p" }, spec: { ...template().spec, ...spec } });

test.each([
  [
    "replicas beyond int32",
    deployments,
    deployment({ replicas: 2_147_483_648 }),
    'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [
    "replicas of 10^15",
    deployments,
    deployment({ replicas: 1e15 }),
    "cannot unmarshal number 1000000000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  [
    "replicas as a text",
    deployments,
    deployment({ replicas: "three" }),
    "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  [
    "a port within lists",
    deployments,
    deployment({ template: template({ ports: [{ containerPort: -2_147_483_649 }] }) }),
    "cannot unmarshal number -2147483649 into Go struct field ContainerPort.spec.template.spec.containers.ports.containerPort of type int32",
  ],
  [
    "a number that is to be a text",
    pods,
    pod({ containers: [{ name: "a", image: 7 }] }),
    "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string",
  ],
  [
    "an element of a list of texts",
    pods,
    pod({ containers: [{ name: "a", image: "a", args: ["x", 7] }] }),
    "json: cannot unmarshal number into Go struct field Container.spec.containers.args of type string",
  ],
  [
    "a value of a label",
    pods,
    { metadata: { name: "p", labels: { "app.kubernetes.io/name": true } }, spec: template().spec },
    "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
  ],
  [
    "a struct",
    deployments,
    { metadata: { name: "d" }, spec: "all" },
    "json: cannot unmarshal string into Go struct field Deployment.spec of type v1.DeploymentSpec",
  ],
  [
    "a list of structs",
    pods,
    pod({ containers: "all" }),
    "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container",
  ],
  [
    "seconds beyond int64",
    pods,
    pod({ terminationGracePeriodSeconds: 1e19 }),
    "cannot unmarshal number 10000000000000000000 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64",
  ],
  [
    "a port by number or name",
    services,
    { metadata: { name: "s" }, spec: { ports: [{ port: 80, targetPort: 3_000_000_000 }] } },
    "json: cannot unmarshal number 3000000000 into Go value of type int32",
  ],
])("%s is refused in Go's words", async (_name, path, body, why) => {
  const answer = await start()("POST", path, body);
  expect(answer.code).toBe(400);
  expect(answer.body.message).toContain(why);
});

test("what fits is taken: the largest numbers of their types", async () => {
  const ask = start();
  expect((await ask("POST", deployments, deployment({ replicas: 2_147_483_647 }))).code).toBe(201);
  expect((await ask("POST", pods, pod({ activeDeadlineSeconds: 2_147_483_647 }))).code).toBe(201);
});

test("no way of writing takes a number that its field cannot hold", async () => {
  const ask = start();
  await ask("POST", deployments, deployment());
  const path = `${deployments}/d`;
  const large = { spec: { replicas: 2_147_483_648 } };
  const patched = await ask("PATCH", path, large);
  expect(patched.code).toBeGreaterThanOrEqual(400);
  expect(patched.code).toBeLessThan(500);
  expect((await ask("PUT", path, deployment(large.spec))).code).toBe(400);
  const why = "cannot unmarshal number 2147483648 into Go struct field ScaleSpec.spec.replicas of type int32";
  for (const method of ["PUT", "PATCH"] as const) {
    const scaled = await ask(method, `${path}/scale`, { metadata: { name: "d" }, ...large });
    expect(scaled.code).toBe(400);
    expect(scaled.body.message).toContain(why);
  }
});

test("a grace period that no calendar holds deletes a pod all the same", async () => {
  const ask = start();
  await ask("POST", pods, { ...pod({ terminationGracePeriodSeconds: 1e15, nodeName: "node" }) });
  const answer = await ask("DELETE", `${pods}/p`);
  expect(answer.code).toBe(200);
});

test.each([
  ["soon", 'cannot parse "soon" as "2006"'],
  ["2026-11-26", 'cannot parse "" as "T"'],
  ["2026-11-26T18:00:00", 'cannot parse "" as "Z07:00"'],
])("the time %s is refused in Go's words", (value, why) => {
  const found = goTypeError("io.k8s.api.core.v1.ConfigMap", {
    path: "metadata.creationTimestamp",
    found: "string",
    value,
  });
  expect(found).toBe(`parsing time "${value}" as "2006-01-02T15:04:05Z07:00": ${why}`);
});
