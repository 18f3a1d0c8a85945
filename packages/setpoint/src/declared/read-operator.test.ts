import { readFileSync } from "node:fs";
import { readOperator, type Programs } from "setpoint/hook";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

const example = readFileSync(new URL("../../../../examples/chart/engine.yaml", import.meta.url), "utf8");
const programs: Programs = { run: async () => ({ code: 0, stdout: "", stderr: "" }), fingerprint: async () => "" };

function read(text: string, withPrograms = true): ReturnType<typeof readOperator> {
  const documents = [...parseAllDocuments(text)].map((each) => each.toJS() as unknown);
  const connect = (): never => {
    throw new Error("no hook");
  };
  return readOperator(documents, { connect, ...(withPrograms ? { programs } : {}) });
}

test("a file with a definition and a controller is an operator: kinds to install, and rights", () => {
  const operator = read(example);
  expect(operator.name).toBe("sites");
  expect(operator.crds().map(({ metadata }) => metadata.name)).toEqual(["sites.examples.setpoint.dev"]);
  expect(operator.rules).toContainEqual({
    apiGroups: ["apps"],
    resources: ["deployments"],
    verbs: ["get", "list", "watch", "create", "patch", "delete"],
  });
});

test("a child of another operator's kind needs no definition when its names are given", () => {
  const certificate =
    "{ apiVersion: cert-manager.io/v1, resource: certificates, kind: Certificate, namespaced: true }\n    - ";
  const operator = read(example.replace("childResources:\n    - ", `childResources:\n    - ${certificate}`));
  expect(operator.controllers[0]?.owns.map(({ kind }) => kind)).toEqual(["Certificate", "ConfigMap", "Deployment"]);
  expect(operator.crds().length).toBe(1);
});

const controller = 'Cannot use CompositeController "sites": ';
test.each([
  ["resource: deployments", "resource: deploiments", /Cannot find resource "deploiments.v1.apps": it is not built in/],
  ["subresources: { status: {} }", "", `${controller}its kind Site has no \`subresources: { status: {} }\``],
  ["conditions:", "phases:", `${controller}its kind Site has no status.conditions in its schema`],
  ["timeout: 30s", "timeout: 30", `${controller}hooks.sync.run.timeout is 30; expected a duration such as "30s"`],
  ["timeout: 30s", "shell: true", `${controller}hooks.sync.run has no field "shell"`],
  ["timeout: 30s", "input: values", `${controller}hooks.sync.run.input is "values"; expected spec, object, request`],
  ["timeout: 30s", "files: chart", `${controller}hooks.sync.run.files is no list of paths`],
  ["kind: CompositeController", "kind: Deployment", "it holds a Deployment, expected CompositeControllers and"],
  ["sync:", "finalize: { webhook: { url: x } }\n    sync:", `${controller}hooks.sync.run stands alone`],
])("a file with %j made %j is refused in its own words", (from, to, message) => {
  expect(example).toContain(from);
  expect(() => read(example.replace(from, to))).toThrow(message);
});

test("a host without programs refuses one", () => {
  expect(() => read(example, false)).toThrow("hooks.sync.run is a program, and this host runs none");
});
