/**
 * Inside the cluster's network namespace: runs all forbidden acts in three kinds of pods, and compares what
 * was allowed with what docs/compliance.md says of a genuine cluster. `compliance-tour.ts DIR`
 */
import { join } from "node:path";
import { type Client, createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { sleep } from "@setpoint/host";
import { applyFile } from "../../examples/etcd/install.ts";
import { ComplianceProbe } from "../../operators/compliance-probe/src/index.ts";
import {
  actsOf,
  createProbes,
  createStrictNamespace,
  createVault,
  isVaultReady,
  type ProbeStatus,
  strictNamespace,
} from "../compliance/probes.ts";

const manifests = new URL("../../operators/compliance-probe/manifests/install.yaml", import.meta.url).pathname;
const host = systemHost({ write: (line) => void process.stderr.write(line) });
const runMsMax = 300_000;
const pollMs = 1_000;

/** The acts that a genuine cluster allows, by probe. */
const expected: Readonly<Record<string, readonly string[]>> = {
  plain: ["unshare-users", "ptrace", "kernel-keys", "new-privileges", "memory-limit", "process-limit"],
  root: [
    ...["root-write", "unshare-users", "ptrace", "raw-socket", "packet-socket", "kernel-keys"],
    ...["become-root", "new-privileges", "memory-limit", "process-limit"],
  ],
  strict: ["ptrace", "denied-service-resolve", "denied-service-reach", "process-limit"],
};

async function statusOf(client: Client, name: string, namespace: string): Promise<ProbeStatus> {
  const endMs = host.clock.now() + runMsMax;
  for (;;) {
    const { status } = await client.get(ComplianceProbe, { name, namespace });
    if (status?.lastRun !== undefined && status.results !== undefined) return status;
    if (host.clock.now() > endMs) throw new Error(`${name} has no results: ${JSON.stringify(status?.conditions)}`);
    await sleep(host.clock, pollMs);
  }
}

function report(name: string, status: ProbeStatus): boolean {
  const allowed = actsOf(status, "Allowed");
  const holds = JSON.stringify(allowed) === JSON.stringify(expected[name]);
  console.log(`${holds ? "✓" : "✗"} ${name}: allowed ${allowed.join(", ") || "nothing"}`);
  if (!holds) console.log(`  expected ${expected[name]?.join(", ")}`);
  for (const { act, verdict, reason } of status.results ?? []) console.log(`  ${verdict} ${act}: ${reason}`);
  return holds;
}

async function tour(directory: string): Promise<boolean> {
  const kubeconfig = join(directory, "kubeconfig");
  await using transport = connect({ clock: host.clock, kubeconfig, userAgent: "setpoint-e2e" });
  const client = createClient(transport, host);
  await applyFile(client, manifests);
  await createProbes(client);
  await createVault(client);
  while (!(await isVaultReady(client))) await sleep(host.clock, pollMs);
  await createStrictNamespace(client);
  const held: boolean[] = [];
  for (const name of Object.keys(expected)) {
    const namespace = name === "strict" ? strictNamespace : "default";
    held.push(report(name, await statusOf(client, name, namespace)));
  }
  return held.every(Boolean);
}

const [directory = ""] = process.argv.slice(2);
process.exitCode = (await tour(directory)) ? 0 : 1;
