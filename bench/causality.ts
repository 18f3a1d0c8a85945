/**
 * What it costs a run that its causes, its decision and its writes are remembered: CPU time a run, for a run
 * that nothing woke, one that a change woke, and one that uses its client. Run: node
 * --conditions=@setpoint/source bench/causality.ts
 */
import { createClient } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import { createKind, type KubeObject, type Transport } from "@setpoint/apimachinery";
import { ControllerSupervisor } from "../packages/runtime/src/manager/controller-supervisor.ts";
import { allKeys } from "../packages/runtime/src/coordination/key-ownership.ts";
import { CauseList } from "../packages/runtime/src/run/cause-list.ts";
import { lazyClient } from "../packages/runtime/src/manager/lazy-client.ts";

const count = 100_000;
const rounds = 6;
const host = systemHost({ write: () => {} });
const transport: Transport = { send: () => Promise.reject(new Error("nothing is sent here")) };
const supervisor = new ControllerSupervisor({
  ...{ controller: "box", host, transport, ownership: allKeys(new AbortController().signal) },
  assertMayWrite() {},
  createClient: (way) => lazyClient(way, (inner) => createClient(inner, host)),
});
const Box = createKind<KubeObject>({ group: "", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
const boxes = Array.from({ length: count }, (_, i) => ({
  ...{ apiVersion: "v1", kind: "Box" },
  metadata: { name: `box-${i}`, namespace: "default", resourceVersion: String(i) },
}));

function run(key: string, causes = new CauseList()): ReturnType<ControllerSupervisor["begin"]> {
  const supervised = supervisor.begin({ key, reconcileID: "an id", ...causes.take() }, () => {});
  supervised.ended({ end: "success", result: undefined });
  return supervised;
}

const kinds: Readonly<Record<string, (key: string, box: KubeObject) => unknown>> = {
  "a run": (key) => run(key),
  "a run that a change woke": (key, box) => {
    const causes = new CauseList();
    causes.add("changed", Box, box, 0);
    return run(key, causes);
  },
  "a run that uses its client": (key) => typeof run(key).client.get,
};

for (const [name, act] of Object.entries(kinds)) {
  const nanoseconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    for (const box of boxes) act(`default/${box.metadata.name}`, box);
    const { user, system } = process.cpuUsage(before);
    nanoseconds.push(((user + system) * 1_000) / count);
  }
  console.log(`${name}: ${Math.min(...nanoseconds).toFixed(0)} ns`);
}
