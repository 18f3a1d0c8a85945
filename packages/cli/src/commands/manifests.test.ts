import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { main } from "../main.ts";

const candy = fileURLToPath(new URL("../../../../examples/candy/candy.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "setpoint-manifests-"));
afterAll(() => rmSync(folder, { recursive: true }));

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

async function manifests(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const written = { out: "", err: "" };
  const output = {
    out: (text: string) => void (written.out += text),
    err: (text: string) => void (written.err += text),
  };
  const code = await main(["manifests", ...args], output);
  return { code, ...written };
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
  "Deployment",
];

test("what installs an operator is printed in the order in which it has to be applied, always the same", async () => {
  const { code, out } = await manifests(candy, "--image", "registry.example.com/candy:1", "--namespace", "sweets");
  expect(code).toBe(0);
  expect(objects(out).map(({ kind }) => kind)).toEqual(kinds);
  expect(objects(out).at(-1)?.metadata).toMatchObject({ name: "candy-operator", namespace: "sweets" });
  expect(out).toContain("image: registry.example.com/candy:1\n");
  expect((await manifests(candy, "--image", "registry.example.com/candy:1", "--namespace", "sweets")).out).toBe(out);
  expect(out).not.toMatch(/^\s*(- )?[&*]a\d/m);
});

test("rights are those that the controllers declare, without a wildcard", async () => {
  const { out } = await manifests(candy);
  const rules = objects(out).flatMap((each) => each.rules ?? []);
  expect(rules.length).toBeGreaterThan(3);
  for (const { verbs, resources, apiGroups } of rules)
    expect([...verbs, ...resources, ...apiGroups]).not.toContain("*");
});

test("the Deployment is probed and restricted", async () => {
  const { out } = await manifests(candy);
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
  const { out } = await manifests(candy, "--with", "pdb,networkpolicy");
  const [policy, budget] = objects(out).slice(kinds.length);
  const labels = { matchLabels: { "app.kubernetes.io/name": "candy-operator" } };
  expect(policy).toMatchObject({
    kind: "NetworkPolicy",
    spec: { podSelector: labels, policyTypes: ["Ingress"], ingress: [{ ports: [{ port: 8080, protocol: "TCP" }] }] },
  });
  expect(budget).toMatchObject({ kind: "PodDisruptionBudget", spec: { maxUnavailable: 1, selector: labels } });
  const { code, err } = await manifests(candy, "--with", "helm");
  expect(code).toBe(2);
  expect(err).toMatch(/^Cannot use --with helm: wanted networkpolicy or pdb\nUsage: setpoint manifests FILE/);
});

test("a Kustomize base lists its files, and they hold what would be printed", async () => {
  const directory = join(folder, "base");
  expect(await manifests(candy, "--output", "kustomize", directory)).toEqual({ code: 0, out: "", err: "" });
  const { resources } = parse(readFileSync(join(directory, "kustomization.yaml"), "utf8")) as {
    readonly resources: readonly string[];
  };
  expect(resources).toEqual(["namespace.yaml", "crds.yaml", "rbac.yaml", "deployment.yaml"]);
  expect(readdirSync(directory).toSorted()).toEqual([...resources, "kustomization.yaml"].toSorted());
  const text = resources.map((file) => readFileSync(join(directory, file), "utf8")).join("---\n");
  expect(text).toBe((await manifests(candy)).out);
});

test("a wrong call is one sentence and the usage", async () => {
  const notOperator = join(folder, "not-operator.ts");
  writeFileSync(notOperator, "export default 1;\n");
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[], "Cannot print the manifests of an operator: the file that exports it is missing"],
    [["none.ts"], 'Cannot print the manifests of "none.ts": there is no such file'],
    [
      [notOperator],
      `Cannot print the manifests of "${notOperator}": its default export is not an operator; export default defineOperator({ … })`,
    ],
    [[candy, "--output", "helm"], "Cannot use --output helm: wanted yaml or kustomize"],
    [[candy, "--output", "kustomize"], "Cannot use --output kustomize: the folder to write into is missing"],
    [[candy, "more"], "Cannot print manifests: 2 arguments are too many"],
    [[candy, "--imgae", "x"], "Cannot run \"setpoint manifests\": Unknown option '--imgae'"],
  ];
  for (const [args, sentence] of cases) {
    const { code, err } = await manifests(...args);
    expect(err.split("\n")[0]).toBe(sentence);
    expect(err).toContain("\nUsage: setpoint manifests FILE ");
    expect(code).toBe(2);
  }
});
