import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setpoint, type Ran } from "../setpoint.fixture.ts";
import { ownFolderInside, root } from "../own-folder.fixture.ts";
import { generatedProgram } from "./generated-program.fixture.ts";
import { alertCrd, databaseCrd } from "./large-crds.fixture.ts";

const folder = ownFolderInside("generate");

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function crd(schema: object): string {
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: "object", ...schema } },
  };
  const names = { kind: "Widget", plural: "widgets" };
  const spec = { group: "example.com", scope: "Namespaced", names, versions: [version] };
  return JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec,
  });
}

async function typesOf(schema: object): Promise<string> {
  const { out } = await setpoint("generate", "types", file("widget.json", crd({ properties: { spec: schema } })));
  return out;
}

function tsc(...files: readonly string[]): Promise<string> {
  const flags = [
    "--noEmit",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--verbatimModuleSyntax",
    "--isolatedDeclarations",
    "--declaration",
    "--erasableSyntaxOnly",
  ];
  const modules = [
    "--target",
    "esnext",
    "--module",
    "nodenext",
    "--customConditions",
    "@setpoint/source",
    "--allowImportingTsExtensions",
    "--skipLibCheck",
    "--types",
    "node",
  ];
  const args = [join(root, "node_modules/typescript/bin/tsc"), "--ignoreConfig", ...flags, ...modules, ...files];
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd: folder }, (error, out) =>
      resolve(error === null ? "" : out || error.message),
    ),
  );
}

test("types of large CRDs compile, and refuse what the CRDs refuse", { timeout: 120_000 }, async () => {
  const source = file(
    "large.yaml",
    `${databaseCrd}---\napiVersion: v1\nkind: Namespace\nmetadata: { name: x }\n---\n${alertCrd}`,
  );
  const generated = await setpoint("generate", "types", source, "--output", join(folder, "generated.ts"));
  expect(generated).toEqual({ code: 0, out: "", err: "" });
  const program = file("program.ts", generatedProgram);
  const { out: alerts } = await setpoint("generate", "types", file("alerts.yaml", alertCrd));
  const { out: databases } = await setpoint(
    "generate",
    "types",
    file("databases.yaml", databaseCrd),
    "--version",
    "v1",
  );
  for (const text of [alerts, databases]) expect(text.match(/^ {2}readonly /gm)?.length).toBeGreaterThan(200);
  expect(await tsc(program, file("alerts.ts", alerts), file("databases.ts", databases))).toBe("");
});

test("the stored version has the kind's name, the others say which they are and that they are deprecated", async () => {
  const { out } = await setpoint("generate", "types", file("database.yaml", databaseCrd));
  expect(out.match(/export const .*/g)).toEqual([
    "export const DatabaseCluster: Kind<DatabaseCluster> = createKind<DatabaseCluster>({",
    "export const DatabaseClusterV1beta1: Kind<DatabaseClusterV1beta1> = createKind<DatabaseClusterV1beta1>({",
  ]);
  expect(out).toContain(" * @deprecated Use v1.\n");
  const beta = await setpoint("generate", "types", join(folder, "database.yaml"), "--version", "v1beta1");
  expect(beta.out.match(/export const .*/g)).toEqual([
    "export const DatabaseCluster: Kind<DatabaseCluster> = createKind<DatabaseCluster>({",
  ]);
  const missing = await setpoint("generate", "types", join(folder, "database.yaml"), "--version", "v2");
  expect(missing.code).toBe(2);
  expect(missing.err).toMatch(
    /^Cannot generate types of version "v2" from ".*": DatabaseCluster has v1, v1beta1\nUsage: /,
  );
});

test("descriptions and defaults become comments that nothing in them can end", async () => {
  const text = await typesOf({
    type: "object",
    properties: { path: { type: "string", default: "/", description: "Ends with */ maybe." } },
  });
  expect(text).toContain('  /**\n   * Ends with *\\/ maybe.\n   * Default: "/"\n   */\n  readonly path?: string;\n');
});

test.each<readonly [string, object, string]>([
  ["an enum", { type: "string", enum: ["a", "b"] }, '"a" | "b"'],
  ["int-or-string", { "x-kubernetes-int-or-string": true }, "number | string"],
  [
    "a list of int-or-string",
    { type: "array", items: { "x-kubernetes-int-or-string": true } },
    "readonly (number | string)[]",
  ],
  ["a map", { type: "object", additionalProperties: { type: "integer" } }, "{ readonly [key: string]: number }"],
  ["a nullable value", { type: "string", nullable: true }, "string | null"],
  [
    "a list of nullable maps",
    { type: "array", items: { type: "object", nullable: true, additionalProperties: { type: "string" } } },
    "readonly ({ readonly [key: string]: string } | null)[]",
  ],
  ["a nullable enum that names null", { type: "string", nullable: true, enum: ["a", null] }, '"a" | null'],
  [
    "preserved unknown fields",
    { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    "{ readonly [field: string]: unknown }",
  ],
  ["any value", { "x-kubernetes-preserve-unknown-fields": true }, "unknown"],
  [
    "an embedded object",
    { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    "KubeObject & { readonly [field: string]: unknown }",
  ],
])("%s has its type", async (_, schema, type) => {
  expect(await typesOf({ type: "object", properties: { "a-field": schema } })).toContain(
    `  readonly "a-field"?: ${type};\n`,
  );
});

test("what is no CustomResourceDefinition is refused with a sentence", async () => {
  const pod = file("pod.yaml", "apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Service\n");
  expect(await setpoint("generate", "types", pod)).toEqual({
    code: 1,
    out: "",
    err: `Cannot generate types from "${pod}": it holds Pod, Service, expected a CustomResourceDefinition\n`,
  });
  const old = file(
    "old.yaml",
    "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: { name: a.b }\n",
  );
  expect((await setpoint("generate", "types", old)).err).toContain(
    '"a.b" is of apiextensions.k8s.io/v1beta1, expected apiextensions.k8s.io/v1\n',
  );
  const broken = file("broken.yaml", "a: [1\nb: 2\n");
  expect((await setpoint("generate", "types", broken)).err).toMatch(/^Cannot read ".*broken.yaml": .*\n$/);
  expect((await setpoint("generate", "types", join(folder, "none.yaml"))).err).toMatch(
    /^Cannot read ".*none.yaml": ENOENT/,
  );
  expect((await setpoint("generate", "types", file("text.txt", "hello"))).code).toBe(1);
});

test("a URL and the current cluster give the same types as the file", async () => {
  const text = crd({ properties: { spec: { type: "object", properties: { size: { type: "integer" } } } } });
  const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
  const answers = new Map<string, { readonly status: number; readonly text: string; readonly location?: string }>([
    ["/moved.yaml", { status: 302, text: "", location: "/crd.yaml" }],
    ["/crd.yaml", { status: 200, text }],
    [crdPath, { status: 200, text }],
  ]);
  const server = createServer((request, response) => {
    const answer = answers.get(new URL(request.url ?? "/", "http://any").pathname) ?? { status: 404, text: "{}" };
    const { status, text: body, location } = answer;
    response
      .writeHead(status, { "content-type": "application/json", ...(location === undefined ? {} : { location }) })
      .end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: url } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      users: [{ name: "u", user: {} }],
      "current-context": "c",
    };
    const kubeconfig = file("kubeconfig", JSON.stringify(config));
    const body = (ran: Ran): string => ran.out.split("\n").slice(1).join("\n");
    const fromFile = await setpoint("generate", "types", file("crd.yaml", text));
    expect(fromFile.out).toContain("readonly size?: number;");
    expect(body(await setpoint("generate", "types", `${url}/moved.yaml`))).toBe(body(fromFile));
    expect(body(await setpoint("generate", "types", "cluster/widgets.example.com", "--kubeconfig", kubeconfig))).toBe(
      body(fromFile),
    );
    expect(await setpoint("generate", "types", `${url}/none.yaml`)).toEqual({
      code: 1,
      out: "",
      err: `Cannot read "${url}/none.yaml": the server answered 404, expected 200\n`,
    });
    expect((await setpoint("generate", "types", "cluster/none.example.com", "--kubeconfig", kubeconfig)).code).toBe(1);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test.each<readonly [string, string]>([
  ["spec: null", "openAPIV3Schema.properties.spec is not an object"],
  ["spec: { type: string, enum: a }", "openAPIV3Schema.properties.spec.enum is not a list"],
  ["spec: &self { type: array, items: *self }", "items is nested more than 64 deep"],
])("a broken schema is refused with the path to the fault: %s", async (fields, fault) => {
  const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: a.b }\n";
  const spec = `spec:\n  group: b\n  names: { kind: A, plural: a }\n  versions: [{ name: v1, schema: { openAPIV3Schema: { properties: { ${fields} } } } }]\n`;
  const { code, err } = await setpoint("generate", "types", file("broken-schema.yaml", head + spec));
  expect(code).toBe(1);
  expect(err).toMatch(
    /^Cannot generate types from ".*": in version v1 of the CustomResourceDefinition "a\.b", openAPIV3Schema/,
  );
  expect(err).toContain(`${fault}\n`);
});

test("no name or text of a definition gets out of its comment or its literal", async () => {
  const evil = '*/ export const planted = 1; /* "; export const planted = 1; // `\r\n\u2028export const planted = 1;';
  const names = { kind: `Widget${evil}`, plural: evil };
  const schema = {
    type: "object",
    description: evil,
    properties: { [evil]: { type: "string", default: evil, enum: [evil] } },
  };
  const version = { name: `v1${evil}`, served: true, storage: true, deprecated: true, deprecationWarning: evil };
  const spec = {
    group: evil,
    scope: "Cluster",
    names,
    versions: [{ ...version, schema: { openAPIV3Schema: schema } }],
  };
  const manifest = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: {}, spec };
  const { out } = await setpoint("generate", "types", file("evil.json", JSON.stringify(manifest)));
  const generated = (await import(file("evil.ts", out.replace('"setpoint"', '"@setpoint/apimachinery"')))) as object;
  expect(Object.keys(generated)).toHaveLength(1);
  expect(generated).not.toHaveProperty("planted");
});
