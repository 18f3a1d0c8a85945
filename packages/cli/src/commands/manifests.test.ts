import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { candy, ownFolder, root } from "../own-folder.fixture.ts";
import { setpoint } from "../setpoint.fixture.ts";

const folder = ownFolder("manifests");

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly verbs: readonly string[];
    readonly resources: readonly string[];
    readonly apiGroups: readonly string[];
  }[];
  readonly spec?: unknown;
}

function objects(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

const kinds = [
  "Namespace",
  "CustomResourceDefinition",
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  // What people may do with the kinds.
  "ClusterRole",
  "ClusterRole",
  "Deployment",
];

test("what installs an operator is printed in the order in which it has to be applied, always the same", async () => {
  const { code, out } = await setpoint(
    "manifests",
    candy,
    "--image",
    "registry.example.com/candy:1",
    "--namespace",
    "sweets",
  );
  expect(code).toBe(0);
  expect(objects(out).map(({ kind }) => kind)).toEqual(kinds);
  expect(objects(out).at(-1)?.metadata).toMatchObject({ name: "candy-operator", namespace: "sweets" });
  expect(out).toContain("image: registry.example.com/candy:1\n");
  expect(
    (await setpoint("manifests", candy, "--image", "registry.example.com/candy:1", "--namespace", "sweets")).out,
  ).toBe(out);
  expect(out).not.toMatch(/^\s*(- )?[&*]a\d/m);
});

test("rights are those that the controllers declare, without a wildcard", async () => {
  const { out } = await setpoint("manifests", candy);
  const rules = objects(out).flatMap((each) => each.rules ?? []);
  expect(rules.length).toBeGreaterThan(3);
  for (const { verbs, resources, apiGroups } of rules)
    expect([...verbs, ...resources, ...apiGroups]).not.toContain("*");
});

test("the Deployment is probed and restricted", async () => {
  const { out } = await setpoint("manifests", candy);
  for (const text of [
    "path: /healthz",
    "path: /readyz",
    "runAsNonRoot: true",
    "readOnlyRootFilesystem: true",
    "allowPrivilegeEscalation: false",
    "type: RuntimeDefault",
  ]) {
    expect(out).toContain(text);
  }
});

test("a NetworkPolicy and a PodDisruptionBudget come when asked for", async () => {
  const { out } = await setpoint("manifests", candy, "--with", "pdb,networkpolicy");
  const [policy, budget] = objects(out).slice(kinds.length);
  const labels = { matchLabels: { "app.kubernetes.io/name": "candy-operator" } };
  expect(policy).toMatchObject({
    kind: "NetworkPolicy",
    spec: { podSelector: labels, policyTypes: ["Ingress"], ingress: [{ ports: [{ port: 8080 }, { port: 8443 }] }] },
  });
  expect(budget).toMatchObject({ kind: "PodDisruptionBudget", spec: { maxUnavailable: 1, selector: labels } });
  const { code, err } = await setpoint("manifests", candy, "--with", "helm");
  expect(code).toBe(2);
  expect(err).toMatch(
    /^Cannot use --with helm: expected some of networkpolicy, pdb, metrics, servicemonitor\nUsage: setpoint manifests FILE/,
  );
});

test("a ServiceMonitor comes with the metrics Service that it finds", async () => {
  const { out } = await setpoint("manifests", candy, "--with", "servicemonitor");
  const [service, monitor] = objects(out).slice(kinds.length);
  const labels = { "app.kubernetes.io/name": "candy-operator" };
  expect(service).toMatchObject({
    kind: "Service",
    metadata: { name: "candy-operator-metrics", labels },
    spec: { selector: labels, ports: [{ name: "metrics", port: 8443, targetPort: "metrics" }] },
  });
  expect(monitor).toMatchObject({
    kind: "ServiceMonitor",
    spec: {
      selector: { matchLabels: labels },
      endpoints: [{ port: "metrics", path: "/metrics", scheme: "https", honorLabels: true }],
    },
  });
});

test("rights follow from a recording too: what was used is added, and what was not may be left out", async () => {
  const recording = join(folder, "recording.jsonl");
  const request = (n: number, method: string, path: string): object => ({
    kind: "request",
    n,
    request: { method, path },
  });
  const answer = (n: number, status: number): object => ({ kind: "object", n, at: n, status, headers: {}, object: {} });
  const lines = [
    { format: "setpoint-flight/1", program: "candy", seed: 1, epochMs: 0 },
    request(1, "GET", "/api/v1/namespaces/default/pods/web"),
    answer(1, 200),
    request(2, "GET", "/api/v1/configmaps"),
    answer(2, 200),
    request(3, "DELETE", "/api/v1/nodes/a"),
    answer(3, 403),
  ];
  writeFileSync(recording, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { out, err } = await setpoint("manifests", candy, "--from-recording", recording);
  const [role] = objects(out).filter(({ kind }) => kind === "ClusterRole");
  expect(role?.rules).toContainEqual({ apiGroups: [""], resources: ["pods"], verbs: ["get"] });
  expect(JSON.stringify(role?.rules)).not.toContain("nodes");
  expect(err).toContain("Kept, though the recording did not need it: delete configmaps\n");
  const least = objects((await setpoint("manifests", candy, "--from-recording", recording, "--only-used")).out);
  expect(least.find(({ kind }) => kind === "ClusterRole")?.rules).toEqual([
    // Who lists may have to watch elsewhere, and owner references may be policed there.
    { apiGroups: ["examples.setpoint.dev"], resources: ["candies/finalizers"], verbs: ["update"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
    // To ask who reads the metrics, which a recording on a desk cannot show.
    { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
    { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  ]);
});

test("a Helm chart has everything that people change in its values", async () => {
  const directory = join(folder, "chart");
  const flags = ["--image", "localhost:5000/candy:1", "--chart-version", "2.0.0", "--with", "pdb"];
  expect(await setpoint("manifests", candy, ...flags, "--output", "helm", directory)).toEqual({
    code: 0,
    out: "",
    err: "",
  });
  const file = (name: string): string => readFileSync(join(directory, name), "utf8");
  expect(parse(file("Chart.yaml"))).toMatchObject({ name: "candy-operator", version: "2.0.0", appVersion: "1" });
  expect(parse(file("values.yaml"))).toMatchObject({
    image: { repository: "localhost:5000/candy", tag: "1" },
    podDisruptionBudget: { enabled: true },
    serviceMonitor: { enabled: false },
  });
  const deployment = file("templates/deployment.yaml");
  for (const value of ["image.repository", "replicas", "resources", "tolerations", "affinity"])
    expect(deployment).toContain(`.Values.${value}`);
  const all = readdirSync(join(directory, "templates")).map((name) => file(`templates/${name}`));
  expect(all.join("")).not.toMatch(/helm-(value|release)/);
});

test("a Kustomize base lists its files, and they hold what would be printed", async () => {
  const directory = join(folder, "base");
  expect(await setpoint("manifests", candy, "--output", "kustomize", directory)).toEqual({ code: 0, out: "", err: "" });
  const { resources } = parse(readFileSync(join(directory, "kustomization.yaml"), "utf8")) as {
    readonly resources: readonly string[];
  };
  expect(resources).toEqual(["namespace.yaml", "crds.yaml", "rbac.yaml", "deployment.yaml"]);
  expect(readdirSync(directory).toSorted()).toEqual([...resources, "kustomization.yaml"].toSorted());
  const text = resources.map((file) => readFileSync(join(directory, file), "utf8")).join("---\n");
  expect(text).toBe((await setpoint("manifests", candy)).out);
});

test("a wrong call is one sentence and the usage", async () => {
  const notOperator = join(folder, "not-operator.ts");
  writeFileSync(notOperator, "export default 1;\n");
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[], "Cannot print the manifests of an operator: the file that exports it is missing"],
    [["none.ts"], 'Cannot print the manifests of "none.ts": no such file'],
    [
      [notOperator],
      `Cannot print the manifests of "${notOperator}": its default export is not an operator; write \`export default defineOperator({ … })\``,
    ],
    [[candy, "--output", "rpm"], "Cannot use --output rpm: expected yaml, kustomize, helm or images"],
    [[candy, "--output", "helm"], "Cannot use --output helm: the folder to write into is missing"],
    [[candy, "--only-used"], "Cannot use --only-used: it needs --from-recording"],
    [[candy, "--output", "kustomize"], "Cannot use --output kustomize: the folder to write into is missing"],
    [[candy, "more"], "Cannot print manifests: 2 unexpected arguments"],
    [[candy, "--imgae", "x"], "Cannot run \"setpoint manifests\": Unknown option '--imgae'; did you mean --image?"],
  ];
  for (const [args, sentence] of cases) {
    const { code, err } = await setpoint("manifests", ...args);
    expect(err.split("\n")[0]).toBe(sentence);
    expect(err).toContain("\nUsage: setpoint manifests FILE ");
    expect(code).toBe(2);
  }
});

test("the images that a mirror of the registry needs are listed one a line", async () => {
  const file = join(root, "packages/cli/src/commands/related-images.fixture.ts");
  const { code, out } = await setpoint("manifests", file, "--image", "operator:1", "--output", "images");
  expect({ code, out }).toEqual({ code: 0, out: "operator:1\nregistry.example.com/db:7\n" });
  const { err } = await setpoint("manifests", file, "--output", "json");
  expect(err).toContain("Cannot use --output json: expected yaml, kustomize, helm or images");
});
