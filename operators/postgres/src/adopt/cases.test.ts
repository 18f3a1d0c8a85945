/** Manifests as CloudNativePG documents them, with what is written of each: a YAML file and a text file. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import tool from "../tool.ts";
import { acceptanceProblem } from "./acceptance-problem.ts";
import { adopt } from "./adopt.ts";
import { readManifests } from "./manifest-text.ts";

const folder = new URL("fixtures/cases/", import.meta.url);
const cases = readdirSync(folder)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => file.replace(".yaml", ""));

async function run(args: readonly string[], input = ""): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const output = { out: (text: string) => void (out += text), err: (text: string) => void (err += text) };
  const code = await tool(["adopt", ...args], output, () => input);
  return { code, out, err };
}

function textOf(name: string): string {
  return readFileSync(new URL(`${name}.yaml`, folder), "utf8");
}

test.each(cases)("%s", async (name) => {
  const { code, out, err } = await run([new URL(`${name}.yaml`, folder).pathname]);
  expect(code).toBe(0);
  await expect(`${out}\n${err}`).toMatchFileSnapshot(new URL(`${name}.txt`, folder).pathname);
});

test.each(cases.filter((name) => !name.startsWith("refused-")))("a server accepts what is written of %s", (name) => {
  const { objects, differences } = adopt(readManifests(textOf(name), name));
  expect(objects.map(acceptanceProblem).filter(Boolean)).toEqual([]);
  expect(differences.filter(({ outcome }) => outcome === "refused")).toEqual([]);
});

test("what is written is read again as it is, also words that YAML 1.1 takes for others", async () => {
  const { objects } = adopt(readManifests(textOf("full"), "full"));
  const { out } = await run(["-"], textOf("full"));
  expect(readManifests(out, "out")).toEqual(JSON.parse(JSON.stringify(objects)));
  expect(out).toContain('jit: "off"');
});

test.each(["full", "point-in-time-recovery", "import"])(
  "%s, with its data and into another namespace",
  async (name) => {
    const { code, out, err } = await run(["--import", "--namespace", "new", new URL(`${name}.yaml`, folder).pathname]);
    expect(code).toBe(0);
    await expect(`${out}\n${err}`).toMatchFileSnapshot(new URL(`${name}-moved.txt`, folder).pathname);
    const { differences } = adopt(readManifests(textOf(name), name), { namespace: "new", isImporting: true });
    expect(differences.filter(({ outcome }) => outcome === "refused")).toEqual([]);
  },
);

test("no value of a Secret is written", async () => {
  const { out, err } = await run(["-"], textOf("full"));
  expect(out + err).not.toContain("secret-of-the-app");
});

test("objects of several files know each other", async () => {
  const [cluster = "", plan = ""] = textOf("scheduled-backup").split("---\n");
  expect(cluster).toContain("kind: Cluster");
  const { objects } = adopt([...readManifests(plan, "plan"), ...readManifests(cluster, "cluster")]);
  expect(objects[0]).toMatchObject({ kind: "BackupPlan", spec: { retention: { keepFor: "672h" } } });
});

const notAManifest: readonly (readonly [what: string, text: string, message: string])[] = [
  [
    "a number that is none",
    "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: a}\nspec: {instances: three}\n",
    'Cannot read Cluster "a": spec.instances: expected a whole number, got "three"',
  ],
  [
    "a parameter that is no text",
    "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: a}\nspec: {postgresql: {parameters: {jit: on}}}\n",
    'Cannot read Cluster "a": spec.postgresql.parameters.jit: expected text, got true',
  ],
  [
    "an item without a name",
    "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: a}\nspec: {managed: {roles: [{login: true}]}}\n",
    'Cannot read Cluster "a": spec.managed.roles[0].name: expected text, got nothing',
  ],
  [
    "a size that is none",
    "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: a}\nspec: {storage: {size: large}}\n",
    'Cannot read Cluster "a": spec.storage.size: expected a quantity such as 8Gi, got "large"',
  ],
  [
    "another version",
    "apiVersion: postgresql.cnpg.io/v2\nkind: Cluster\nmetadata: {name: a}\n",
    'Cannot read Cluster "a": apiVersion: expected postgresql.cnpg.io/v1, got "postgresql.cnpg.io/v2"',
  ],
  [
    "another kind",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
    'Cannot read the files: apiVersion: expected an object of postgresql.cnpg.io/v1, got "v1 Secret"',
  ],
  ["no object", "- a\n", 'Cannot read the document: .: expected an object of Kubernetes, got ["a"]'],
  ["no name", "apiVersion: v1\nkind: Secret\n", "Cannot read a Secret: metadata.name: expected text, got nothing"],
  ["nothing", "", "Cannot read the files: apiVersion: expected an object of postgresql.cnpg.io/v1, got nothing"],
];

test.each(notAManifest)("%s ends with the code 1, the field and what was expected", async (_, text, message) => {
  expect(await run(["-"], text)).toEqual({ code: 1, out: "", err: `${message}\n` });
});

test("text that is no YAML ends with the code 1", async () => {
  expect(await run(["-"], "a: [")).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/^Cannot read "-": /),
  });
});

test("another verb, a flag and a file that is missing are wrong calls", async () => {
  const output = { out: () => {}, err: () => {} };
  await expect(tool(["render", "x"], output)).rejects.toThrow("expected adopt FILE…");
  await expect(tool(["adopt"], output)).rejects.toThrow("expected adopt FILE…");
  await expect(tool(["adopt", "--dry-run", "x"], output)).rejects.toThrow("Unknown option '--dry-run'");
  await expect(tool(["adopt", "/none.yaml"], output)).rejects.toThrow('Cannot read "/none.yaml"');
});
