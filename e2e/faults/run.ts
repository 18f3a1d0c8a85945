/**
 * What does an operator that was not written with Setpoint survive? Runs it against `setpoint up --faults`,
 * once for each fault, and prints the table of docs/faults-over-http.md.
 *
 *   PEER_OPERATOR=/path/to/operator PEER_CRD=/path/to/crd.yaml npm run faults -- [only these knobs…]
 *
 * The operator keeps for each Widget (bench.example.com/v1) a ConfigMap `<name>-cm` with `data.value` and a
 * status with `observed`; it finds its cluster by KUBECONFIG and prints SYNCED.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiRequest, Transport } from "@setpoint/apimachinery";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { parse } from "yaml";
import { knobs, type Knob } from "./knobs.ts";

const widgets = 30;
const changes = 3;
const changeEveryMs = 2_500;
const convergeMsMax = 60_000;
const syncMsMax = 60_000;
const lookMs = 200;
const shownMax = 5;

const operator = process.env["PEER_OPERATOR"] ?? "";
const crdFile = process.env["PEER_CRD"] ?? "";
if (!existsSync(operator) || !existsSync(crdFile)) {
  process.stdout.write("Skipped: PEER_OPERATOR and PEER_CRD do not name an operator and its CRD\n");
  process.exit(0);
}

interface Widget {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly value: number };
  readonly status?: { readonly observed?: number; readonly ready?: boolean };
}

interface Child {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

interface Rule {
  readonly name: string;
  readonly matched: number;
  readonly struck: number;
}

/** A cluster and a way into it that no fault strikes, because it calls itself something else. */
class Cluster implements AsyncDisposable {
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  #transport: Transport | undefined;
  isDown = false;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "faults-"));
    this.kubeconfig = join(this.#folder, "kubeconfig");
    const cli = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
    const faults = new URL("none.yaml", import.meta.url).pathname;
    const args = ["up", "--in-memory", "--nodes", "0", "--kubeconfig", this.kubeconfig, "--faults", faults];
    this.#process = spawn(process.execPath, [cli, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    this.#process.once("exit", () => (this.isDown = true));
  }

  async start(): Promise<void> {
    const { stdout } = this.#process;
    if (stdout === null) throw new Error("Cannot start: setpoint has no output");
    await lineStarting(createInterface({ input: stdout }), "Ready");
    this.#transport = connect({ clock: systemHost().clock, kubeconfig: this.kubeconfig, userAgent: "faults-driver" });
    await this.send({
      method: "POST",
      path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      body: readCrd(),
    });
    await until(
      "the CRD is served",
      async () => (await this.list<Widget>(widgetsPath).catch(() => undefined)) !== undefined,
    );
  }

  async send(request: ApiRequest): Promise<unknown> {
    const response = await this.#transport?.send(request);
    if (response?.kind !== "object" || response.status >= 400)
      throw new Error(`${request.method} ${request.path}: ${JSON.stringify(response)}`);
    return response.object;
  }

  async list<T>(path: string): Promise<readonly T[]> {
    const { items } = (await this.send({ method: "GET", path })) as { readonly items: readonly T[] };
    return items;
  }

  async rules(): Promise<readonly Rule[]> {
    const { rules } = (await this.send({ method: "GET", path: "/setpoint/faults" })) as {
      readonly rules: readonly Rule[];
    };
    return rules;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isDown) {
      this.#process.kill("SIGTERM");
      await once(this.#process, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const widgetsPath = "/apis/bench.example.com/v1/namespaces/default/widgets";
const childrenPath = "/api/v1/namespaces/default/configmaps";

function readCrd(): unknown {
  return parse(readFileSync(crdFile, "utf8"));
}

async function lineStarting(lines: AsyncIterable<string>, start: string): Promise<void> {
  for await (const line of lines) if (line.startsWith(start)) return;
  throw new Error(`Cannot go on: a process ended before it said ${start}`);
}

async function until(what: string, look: () => Promise<boolean>, limitMs = convergeMsMax): Promise<number> {
  const startedMs = performance.now();
  while (!(await look())) {
    if (performance.now() - startedMs > limitMs) throw new Error(`Not within ${limitMs / 1_000} s: ${what}`);
    await sleep(lookMs);
  }
  return performance.now() - startedMs;
}

/** What is not as the Widgets say: nothing, when the operator has done its work. */
async function differences(cluster: Cluster): Promise<readonly string[]> {
  const [all, children] = await Promise.all([cluster.list<Widget>(widgetsPath), cluster.list<Child>(childrenPath)]);
  const byName = new Map(children.map((each) => [each.metadata.name, each]));
  return all.flatMap(({ metadata, spec, status }) => {
    const child = byName.get(`${metadata.name}-cm`);
    const isOwned = child?.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false;
    const value = child?.data?.["value"];
    const found = [
      ...(isOwned ? [] : [`${metadata.name}: no ConfigMap of its own`]),
      ...(value === String(spec.value) ? [] : [`${metadata.name}: the ConfigMap has ${value}, expected ${spec.value}`]),
      ...(status?.observed === spec.value
        ? []
        : [`${metadata.name}: the status has ${status?.observed}, expected ${spec.value}`]),
    ];
    return found;
  });
}

async function isConverged(cluster: Cluster): Promise<boolean> {
  return (await differences(cluster)).length === 0;
}

interface Row {
  readonly knob: Knob;
  readonly withFaults: number | undefined;
  readonly afterFaults: number | undefined;
  readonly struck: number;
  readonly writes: number;
  readonly creates: number;
  readonly replaced: number;
  readonly isAlive: boolean;
}

/** Rules that strike nothing and count. */
const counters = [
  { name: "count-writes", fault: "latency", maxMs: 0, match: { verbs: ["create", "update", "patch", "delete"] } },
  { name: "count-creates", fault: "latency", maxMs: 0, match: { verbs: ["create"], resources: ["configmaps"] } },
];

async function run(cluster: Cluster, knob: Knob, agent: string): Promise<Row> {
  await cluster.send({ method: "DELETE", path: widgetsPath });
  await until("the last run's objects are gone", async () => (await cluster.list<Widget>(widgetsPath)).length === 0);
  await cluster.send({ method: "DELETE", path: childrenPath, query: { labelSelector: "app=widget" } });
  const count = counters.map((each) => ({ ...each, match: { ...each.match, userAgents: [agent] } }));
  const rules = [
    ...count,
    ...knob.plan.rules.map(({ name, fault, match, percent, settings }) => ({
      name,
      fault,
      match,
      percent,
      ...settings,
    })),
  ];
  await cluster.send({ method: "PUT", path: "/setpoint/faults", body: { seed: 1, rules } });
  for (let index = 0; index < widgets; index++) await createWidget(cluster, index);
  const child = spawn(operator, [], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig, PEER_MODE: "full" },
    stdio: "ignore",
  });
  let isAlive = true;
  child.once("exit", () => (isAlive = false));
  try {
    const uids = await firstUids(cluster);
    for (let value = 1; value <= changes; value++) {
      await sleep(changeEveryMs);
      for (let index = 0; index < widgets; index++) await changeWidget(cluster, index, value);
    }
    const withFaults = await until("converged", () => isConverged(cluster), convergeMsMax).catch(() => undefined);
    const counted = await cluster.rules();
    await cluster.send({ method: "PUT", path: "/setpoint/faults", body: { rules: [] } });
    const afterFaults = await until("converged", () => isConverged(cluster), convergeMsMax).catch(() => undefined);
    const left = afterFaults === undefined ? await differences(cluster) : [];
    for (const each of left.slice(0, shownMax)) process.stderr.write(`${knob.name}: ${each}\n`);
    const replaced = await replacedSince(cluster, uids);
    const of = (name: string): number => counted.find((each) => each.name === name)?.matched ?? 0;
    const struck = counted.reduce((sum, each) => sum + (each.name.startsWith("count-") ? 0 : each.struck), 0);
    return {
      knob,
      withFaults,
      afterFaults,
      struck,
      writes: of("count-writes"),
      creates: of("count-creates"),
      replaced,
      isAlive,
    };
  } finally {
    if (isAlive) {
      child.kill("SIGTERM");
      await Promise.race([once(child, "exit"), sleep(5_000)]);
      child.kill("SIGKILL");
    }
  }
}

async function createWidget(cluster: Cluster, index: number): Promise<void> {
  const body = {
    apiVersion: "bench.example.com/v1",
    kind: "Widget",
    metadata: { name: `w-${index}` },
    spec: { value: 0 },
  };
  await cluster.send({ method: "POST", path: widgetsPath, body });
}

async function changeWidget(cluster: Cluster, index: number, value: number): Promise<void> {
  const headers = { "content-type": "application/merge-patch+json" };
  await cluster.send({ method: "PATCH", path: `${widgetsPath}/w-${index}`, headers, body: { spec: { value } } });
}

/** Of the children as soon as all are there, or after a while. */
async function firstUids(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
  const look = async (): Promise<readonly Child[]> =>
    (await cluster.list<Child>(childrenPath)).filter(({ metadata }) => metadata.name.endsWith("-cm"));
  await until("all children are there", async () => (await look()).length === widgets, syncMsMax).catch(() => 0);
  return new Map((await look()).map(({ metadata }) => [metadata.name, metadata.uid]));
}

/** Children that were made a second time. */
async function replacedSince(cluster: Cluster, uids: ReadonlyMap<string, string>): Promise<number> {
  const children = await cluster.list<Child>(childrenPath);
  return children.filter(({ metadata }) => (uids.get(metadata.name) ?? metadata.uid) !== metadata.uid).length;
}

function lineOf(row: Row): string {
  const { knob, withFaults, afterFaults, struck, writes, creates, replaced, isAlive } = row;
  const seconds = (ms: number | undefined): string => (ms === undefined ? "no" : `${(ms / 1_000).toFixed(1)} s`);
  const cells = [
    `\`${knob.name}\``,
    knob.what,
    String(struck),
    seconds(withFaults),
    seconds(afterFaults),
    String(writes),
    String(creates),
    String(replaced),
    isAlive ? "yes" : "**no**",
  ];
  return `| ${cells.join(" | ")} |\n`;
}

const only = process.argv.slice(2);
const agent = process.env["PEER_AGENT"] ?? "controller-runtime*";
const cluster = new Cluster();
try {
  await cluster.start();
  process.stdout.write(
    "| fault | what | struck | converged with it | after it | writes sent | creates sent | children replaced | alive |\n|---|---|--:|--:|--:|--:|--:|--:|---|\n",
  );
  for (const knob of knobs(agent)) {
    if (only.length > 0 && !only.includes(knob.name)) continue;
    process.stdout.write(lineOf(await run(cluster, knob, agent)));
    if (cluster.isDown) throw new Error(`Our server did not survive ${knob.name}`);
  }
  process.stdout.write("\nOur server ran through all of it in one process.\n");
} finally {
  await cluster[Symbol.asyncDispose]();
}
