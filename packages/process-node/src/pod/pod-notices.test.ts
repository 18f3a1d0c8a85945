import { globSync, readFileSync } from "node:fs";
import type { Container, PodSpec } from "@setpoint/api";
import { expect, test } from "vitest";
import { ignoredFieldNames } from "./ignored-fields.ts";
import { podNotices } from "./pod-notices.ts";
import { refusedFieldNames } from "./refusals.ts";

const main: Container = { name: "main", image: "x" };

test("a pod that this node runs as it is written gives no notice", () => {
  expect(podNotices({ containers: [main], volumes: [{ name: "v", emptyDir: {} }] })).toEqual([]);
});

test.for<[string, Partial<PodSpec>, Partial<Container>]>([
  ["The pod will not start: spec asks for hostNetwork", { hostNetwork: true }, {}],
  ["The pod will not start: spec asks for runtimeClassName", { runtimeClassName: "gvisor" }, {}],
  ['volume "v" asks for a type of volume', { volumes: [{ name: "v", nfs: { server: "s", path: "/" } }] }, {}],
  ["spec securityContext.seLinuxOptions has no effect", { securityContext: { seLinuxOptions: { type: "t" } } }, {}],
  ['container "main" securityContext.windowsOptions has no effect', {}, { securityContext: { windowsOptions: {} } }],
  ["spec setHostnameAsFQDN has no effect", { setHostnameAsFQDN: true }, {}],
])("%s", ([sentence, spec, container]) => {
  const [notice, ...more] = podNotices({ containers: [{ ...main, ...container }], ...spec });
  expect(notice).toContain(sentence);
  expect(notice).toContain("remove the field");
  expect(more).toEqual([]);
});

test.for<[string, Partial<PodSpec>, Partial<Container>]>([
  ["hostNetwork", { hostNetwork: true }, {}],
  ["hostPID", { hostPID: true }, {}],
  ["hostPath", { volumes: [{ name: "v", hostPath: { path: "/" } }] }, {}],
  ["securityContext.privileged", {}, { securityContext: { privileged: true } }],
  ["securityContext.capabilities SYS_ADMIN", {}, { securityContext: { capabilities: { add: ["SYS_ADMIN"] } } }],
])("%s gives a notice that names --allow-host, and none with it", ([field, spec, container]) => {
  const pod = { containers: [{ ...main, ...container }], ...spec };
  const [notice] = podNotices(pod);
  expect(notice).toContain(`asks for ${field}, but`);
  expect(notice).toMatch(/; remove the field, or start "setpoint up" with --allow-host$/);
  expect(podNotices(pod, { allowHost: true })).toEqual([]);
});

test("init containers are looked at too", () => {
  const init = { name: "init", image: "x", securityContext: { privileged: true } };
  expect(podNotices({ containers: [main], initContainers: [init] })).toHaveLength(1);
});

test("no ignored field is one that the node reads", () => {
  const root = new URL("..", import.meta.url).pathname;
  const sources = globSync("**/*.ts", { cwd: root }).filter(
    (path) => !path.endsWith(".test.ts") && path !== "pod/ignored-fields.ts",
  );
  const text = sources.map((path) => readFileSync(`${root}/${path}`, "utf8")).join("\n");
  const names = ignoredFieldNames().map((field) => field.split(".").at(-1) ?? "");
  expect(names.filter((name) => new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});

test("docs/cluster.md lists the fields that the node refuses or ignores", () => {
  const page = readFileSync(new URL("../../../../docs/cluster.md", import.meta.url), "utf8");
  const fieldsBelow = (heading: string): readonly string[] => {
    const [, section = ""] = page.split(`\n## ${heading}\n`);
    const [list = ""] = section.split("\n## ");
    return [...list.matchAll(/^- `([^`]*)`/gm)].map(([, field = ""]) => field);
  };
  expect(fieldsBelow("What a node refuses")).toEqual(refusedFieldNames("always").toSorted());
  expect(fieldsBelow("What needs --allow-host")).toEqual(refusedFieldNames("without --allow-host").toSorted());
  expect(fieldsBelow("What a node ignores")).toEqual(ignoredFieldNames().toSorted());
});
