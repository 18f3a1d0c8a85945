import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { bindingManifests, bindingManifestsFile } from "./binding-manifests.ts";
import { postgresManifests, postgresManifestsFile } from "./postgres-manifests.ts";
import { hatefulSetManifests, hatefulSetManifestsFile } from "./hateful-set-manifests.ts";
import { prometheusManifests, prometheusManifestsFile } from "./prometheus-manifests.ts";
import { complianceManifests, complianceManifestsFile } from "./compliance-manifests.ts";
import { etcdManifests, etcdManifestsFile, etcdMonitor, etcdMonitorFile } from "./etcd-manifests.ts";

test("the committed manifests are those of the operator's code", async () => {
  expect(await readFile(etcdManifestsFile, "utf8")).toBe(etcdManifests());
  expect(await readFile(etcdMonitorFile, "utf8")).toBe(etcdMonitor());
  expect(await readFile(bindingManifestsFile, "utf8")).toBe(bindingManifests());
  expect(await readFile(postgresManifestsFile, "utf8")).toBe(postgresManifests());
  expect(await readFile(hatefulSetManifestsFile, "utf8")).toBe(hatefulSetManifests());
  expect(await readFile(prometheusManifestsFile, "utf8")).toBe(prometheusManifests());
  expect(await readFile(complianceManifestsFile, "utf8")).toBe(complianceManifests());
});
