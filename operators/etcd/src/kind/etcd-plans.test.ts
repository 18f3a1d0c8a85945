import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { etcdPlans, plansOf } from "./etcd-plans.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "etcd-plans-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string): ReturnType<typeof plansOf> {
  const file = join(folder, "plans.yaml");
  writeFileSync(file, text);
  return plansOf({ ETCD_PLANS_FILE: file });
}

test("without a file there are the operator's own plans, each larger than the one before", () => {
  expect(plansOf({}).map(({ name }) => name)).toEqual(["small", "medium", "large"]);
  expect(plansOf({ ETCD_PLANS_FILE: "" })).toBe(etcdPlans);
});

test("the operator's own plans pass the check of a file", () => {
  expect(read(JSON.stringify({ plans: etcdPlans }))).toEqual(etcdPlans);
});

test("numbers of YAML become the text that Kubernetes and etcd want", () => {
  const [plan] = read(`
plans:
  - name: gold
    gives:
      resources: { requests: { cpu: 2 } }
      storage: 10Gi
      options: { quota-backend-bytes: 4294967296 }
`);
  expect(plan?.gives).toEqual({
    resources: { requests: { cpu: "2" } },
    storage: "10Gi",
    options: { "quota-backend-bytes": "4294967296" },
  });
});

test.each([
  ["no volumes", "{}", "plans[0].gives.storage: "],
  ["an amount that is none", "{ storage: much }", "plans[0].gives.storage: "],
  ["an option that names a file", "{ storage: 1Gi, options: { data-dir: / } }", "plans[0].gives.options.data-dir: "],
  [
    "more data than the volume holds",
    '{ storage: 1Gi, options: { quota-backend-bytes: "1073741824" } }',
    "plans[0].gives.options.quota-backend-bytes: expected a number of bytes that a volume of 1Gi has room for",
  ],
  [
    "a quota that is no number",
    "{ storage: 1Gi, options: { quota-backend-bytes: 1Gi } }",
    "plans[0].gives.options.quota-backend-bytes: expected a number",
  ],
  [
    "a request above its limit",
    "{ storage: 1Gi, resources: { requests: { memory: 2Gi }, limits: { memory: 1Gi } } }",
    "plans[0].gives.resources.requests.memory: 2Gi is more than the limit of 1Gi",
  ],
])("a plan with %s is refused", (_, gives, message) => {
  expect(() => read(`plans: [{ name: gold, gives: ${gives} }]`)).toThrow(message);
});
