/**
 * What alerts and panels ask for is what real members and the operator export, and the files for Prometheus
 * become what kustomization.yaml says.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pod } from "@setpoint/api";
import { forwardPort, resolveConnection } from "@setpoint/client/node";
import { BackupPlan } from "@setpoint/data-service";
import { systemClock } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { alerts, isIn, isOfMembers, panelExpressions, selectorsOf } from "../tools/docs/monitoring-expressions.ts";
import { ask, readerToken } from "./cluster/operator-metrics.ts";
import { Playground } from "./etcd/playground.ts";
import { findBinary } from "./kubectl/binaries.ts";

const monitoring = new URL("../operators/etcd/monitoring", import.meta.url).pathname;
const selectors = [...alerts.map(({ expr }) => expr), ...panelExpressions].flatMap(selectorsOf);

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

/** Through the API server, as port forwarding does. */
async function scrape({ metadata: { name = "", namespace = "" } }: Pod, port: number, token?: string): Promise<string> {
  const { connection } = resolveConnection({ kubeconfig: playground.kubeconfig, clock: systemClock });
  await using forwarded = await forwardPort({ connection, namespace, pod: name, port });
  const { status, text } = await ask(`http://127.0.0.1:${forwarded.localPort}/metrics`, token);
  expect([status, text.length > 1_000]).toEqual([200, true]);
  return text;
}

function missingIn(text: string, ofMembers: boolean): readonly object[] {
  return selectors.filter((each) => isOfMembers(each) === ofMembers && !isIn(text, each));
}

test.each(["3.4.23", "3.5.16"])("members of version %s export what alerts and panels ask of them", async (version) => {
  const name = `watched-${version.replaceAll(".", "-")}`;
  await playground.tell(name, { size: 1, version }, async (cluster) => {
    const [member] = await cluster.pods();
    if (member === undefined) throw new Error(`${name} has no pod`);
    expect(missingIn(await scrape(member, 2381), true)).toEqual([]);
  });
});

test("the operator exports what alerts and panels ask of it", async () => {
  const { client } = playground;
  await playground.tell("observed", { size: 1, version: "3.5.16" }, async () => {
    const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "observed" };
    const spec = { instance, store: "vault", schedule: "@daily", suspend: true };
    await client.create(BackupPlan, BackupPlan({ name: "nightly", namespace: "default", spec }));
    const [operator] = (await client.listAll(Pod, { namespace: "setpoint-system" })).items;
    if (operator === undefined) throw new Error("the operator has no pod");
    const token = await readerToken(client);
    const missing = async (): Promise<readonly object[]> => missingIn(await scrape(operator, 8080, token), false);
    await expect.poll(missing, { timeout: 20_000 }).toEqual([]);
    await client.delete(BackupPlan, { name: "nightly", namespace: "default" });
  });
});

test("the address of the runbooks is the one that a user sets", () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-monitoring-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(monitoring, folder, { recursive: true });
  const file = join(folder, "kustomization.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("runbooks.example", "docs.corp.test/etcd"));
  const text = execFileSync(findBinary("kubectl"), ["kustomize", folder], { encoding: "utf8" });
  const urls = alerts.map(({ alert }) => `https://docs.corp.test/etcd/${alert}.md`);
  expect([...text.matchAll(/runbook_url: (\S+)/g)].map(([, url]) => url)).toEqual(urls);
  const kinds = parseAllDocuments(text).map((each) => (each.toJS() as { readonly kind: string }).kind);
  expect(kinds.toSorted()).toEqual([
    ...["ClusterRole", "ConfigMap", "PodMonitor", "PrometheusRule", "Service", "ServiceMonitor"],
  ]);
});
