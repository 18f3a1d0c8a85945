/** Makes the answer to "why" of what a controller's queue, cache and history know. */
import { parseApiVersion, type KubeObject, messageOf } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import { controllerOf, storeKey } from "../cache/store.ts";
import type { KeyState, WorkQueue } from "../queue/work-queue.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { CacheReader } from "../controller/watch-definition.ts";
import { withinTime } from "../coordination/within-time.ts";
import type { PlannedStep } from "../controller/step-memory.ts";
import type { RunHistory } from "../run/run-history.ts";
import type { Cause, RunRecord, WriteRecord } from "../run/run-record.ts";
import type { WhyCause, WhyQuery, WhyReport, WhyRun, WhyState, WhyWrite } from "./why-report.ts";

/** One controller in one cluster. */
export interface Explained {
  readonly runner: {
    readonly definition: ControllerDefinition;
    readonly cache: CacheReader;
    readonly queue: Pick<WorkQueue, "stateOf">;
    /** Since when keys run (monotonic); undefined before the start. */
    readonly activeSinceMs: number | undefined;
    object(key: string): Stored<KubeObject> | undefined;
    heldBecause(key: string): string | undefined;
    /** What woke the key since its last run. */
    causesOf(key: string): readonly Cause[];
    /** The step that the plan of the key is at. */
    plannedFor(key: string): PlannedStep | undefined;
  };
  readonly supervisor: {
    readonly history: RunHistory;
    mayRun(key: string): boolean;
  };
}

export interface ExplainPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly cluster: string | undefined;
  readonly controllers: readonly Explained[];
}

/** Runs told of one object. */
const runsMax = 10;
/** Objects of which the server is asked who wrote them. */
const askedMax = 8;
/** How long it may take to answer: most is known without it, and people ask why when the server is ill. */
const askedMsMax = 2_000;

export async function explain(query: WhyQuery, ports: ExplainPorts): Promise<WhyReport | undefined> {
  const ofKind = ports.controllers.filter(({ runner }) => isNamed(runner.definition.kind, query.kind));
  if (ofKind.length === 0) return explainOwner(query, ports);
  const own = ofKind.find((each) => isAsked(each, query));
  return own === undefined ? undefined : report(own, keyOf(own.runner.definition.kind, query), ports);
}

function isAsked({ runner }: Explained, { controller }: WhyQuery): boolean {
  return controller === undefined || controller === runner.definition.name;
}

/** Of an object that a controller made, the owner is the one that is reconciled. */
async function explainOwner(query: WhyQuery, ports: ExplainPorts): Promise<WhyReport | undefined> {
  for (const each of ports.controllers) {
    if (!isAsked(each, query)) continue;
    const { cache, definition } = each.runner;
    const kind = definition.owns.find((owned) => isNamed(owned, query.kind));
    if (kind === undefined) continue;
    const object = cache.get(kind, query.name, kind.namespaced ? namespaceOf(query) : undefined);
    const owner = object === undefined ? undefined : controllerOf(object);
    if (owner === undefined || owner.kind !== definition.kind.kind) continue;
    if (parseApiVersion(owner.apiVersion).group !== definition.kind.group) continue;
    const found = await report(each, keyOf(definition.kind, { ...query, name: owner.name }), ports);
    return { ...found, askedFor: { kind: kind.kind, name: query.name } };
  }
  return undefined;
}

async function report(explained: Explained, key: string, ports: ExplainPorts): Promise<WhyReport> {
  const { runner, supervisor } = explained;
  const { clock, cluster } = ports;
  const state = runner.queue.stateOf(key);
  const object = runner.object(key);
  const records = supervisor.history.of(key).slice(0, runsMax);
  const pending = runner.causesOf(key);
  const foreign = [...pending, ...records.flatMap(({ causes }) => causes)].filter(
    ({ resourceVersion = "" }) => runThatMade(resourceVersion, ports.controllers) === undefined,
  );
  const writers = await writersOf(foreign, ports);
  const tell = (cause: Cause): WhyCause => causeOf(cause, writers, ports.controllers);
  return {
    controller: runner.definition.name,
    ...othersOf(explained, ports),
    ...(cluster === undefined ? {} : { cluster }),
    object: { kind: runner.definition.kind.kind, ...nameOf(key) },
    isPresent: object !== undefined,
    ...stateOf(explained, key, state, clock),
    ...heldOf(explained, key),
    ...planOf(explained, key),
    failures: state.failures,
    pending: pending.map(tell),
    runs: records.map((record) => runOf(record, tell)),
    ...(supervisor.history.sinceMs === undefined ? {} : { rememberedSince: time(supervisor.history.sinceMs) }),
    conditions: conditionsOf(object),
  };
}

function planOf({ runner }: Explained, key: string): Pick<WhyReport, "plan"> {
  const planned = runner.plannedFor(key);
  if (planned?.shown === undefined) return {};
  return { plan: { ...planned.shown, since: time(planned.sinceMs) } };
}

function othersOf(own: Explained, { controllers }: ExplainPorts): Pick<WhyReport, "otherControllers"> {
  const { group, kind } = own.runner.definition.kind;
  const others = controllers
    .filter((each) => each !== own)
    .map(({ runner }) => runner.definition)
    .filter((each) => each.kind.kind === kind && each.kind.group === group);
  return others.length === 0 ? {} : { otherControllers: others.map(({ name }) => name) };
}

function stateOf(
  { runner, supervisor }: Explained,
  key: string,
  state: KeyState,
  clock: Clock,
): { readonly state: WhyState; readonly since?: string; readonly until?: string } {
  const at = (monotonicMs: number): string => time(clock.now() + monotonicMs - clock.monotonic());
  if (runner.activeSinceMs === undefined) return { state: "standby" };
  if (ownershipOf(supervisor, key) === "another's") return { state: "elsewhere" };
  if (state.kind === "ready") return { state: "ready", since: at(state.sinceMs) };
  const latest = supervisor.history.latest(key);
  const ended = latest?.endedMs === undefined ? undefined : time(latest.endedMs);
  if (state.kind === "running") {
    const since = at(state.sinceMs);
    // The queue has the key until the cache shows what the run has written, which may take as long as a watch
    // is broken.
    const isSettling = latest !== undefined && ended !== undefined && time(latest.startedMs) >= since;
    return isSettling ? { state: "settling", since: ended } : { state: "running", since };
  }
  const since = ended === undefined ? {} : { since: ended };
  return state.kind === "delayed"
    ? { state: "delayed", ...since, until: at(state.untilMs) }
    : { state: "idle", ...since };
}

function heldOf({ runner, supervisor }: Explained, key: string): { readonly held?: string } {
  const owner = ownershipOf(supervisor, key);
  const held = typeof owner === "string" ? runner.heldBecause(key) : `Nobody can say whose it is: ${owner.problem}`;
  return held === undefined ? {} : { held };
}

/** Whose key it is; the author's `shardBy` may throw for it, and then its runs fail with the same words. */
function ownershipOf(
  supervisor: Explained["supervisor"],
  key: string,
): "ours" | "another's" | { readonly problem: string } {
  try {
    return supervisor.mayRun(key) ? "ours" : "another's";
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function runOf(record: RunRecord, tell: (cause: Cause) => WhyCause): WhyRun {
  const { reconcileID, startedMs, endedMs, causes, moreCauses, writes, moreWrites, end, reason, retryAtMs } = record;
  return {
    reconcileID,
    startedAt: time(startedMs),
    ...(endedMs === undefined ? {} : { durationMs: endedMs - startedMs }),
    causes: causes.map(tell),
    moreCauses,
    ...(end === undefined ? {} : { result: end }),
    ...(reason === undefined ? {} : { reason }),
    ...(retryAtMs === undefined ? {} : { nextTryAt: time(retryAtMs) }),
    writes: writes.map(writeOf),
    moreWrites,
  };
}

function writeOf({ method, path, status, resourceVersion }: WriteRecord): WhyWrite {
  const outcome = status === undefined ? "unknown" : status < 400 ? "done" : "refused";
  return {
    ...{ method, path, outcome },
    ...(status === undefined ? {} : { status }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

function causeOf(
  { change, kind, namespace, name, atMs, resourceVersion, writer }: Cause,
  writers: ReadonlyMap<string, string>,
  controllers: readonly Explained[],
): WhyCause {
  const who = writer ?? writers.get(idOf({ kind, namespace, name, resourceVersion }));
  const own = resourceVersion === undefined ? undefined : runThatMade(resourceVersion, controllers);
  return {
    ...{ change, kind: kind.kind, ...(namespace === undefined ? {} : { namespace }), name, at: time(atMs) },
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(who === undefined ? {} : { writer: who }),
    ...(own === undefined ? {} : { ownRun: own }),
  };
}

function runThatMade(resourceVersion: string, controllers: readonly Explained[]): WhyCause["ownRun"] {
  for (const { runner, supervisor } of controllers) {
    const record = supervisor.history.madeBy(resourceVersion);
    if (record !== undefined)
      return { controller: runner.definition.name, object: record.key, reconcileID: record.reconcileID };
  }
  return undefined;
}

/**
 * The field managers that wrote the revisions that woke the key. The cache does not keep managedFields, so
 * this asks the server. It only answers for objects that have not changed since.
 */
async function writersOf(
  causes: readonly Cause[],
  { client, clock }: Pick<ExplainPorts, "client" | "clock">,
): Promise<ReadonlyMap<string, string>> {
  const asked = new Map<string, Cause>();
  for (const cause of causes)
    if (cause.change !== "deleted" && cause.writer === undefined && asked.size < askedMax)
      asked.set(idOf(cause), cause);
  const writers = new Map<string, string>();
  const nobodyStops = new AbortController().signal;
  await Promise.all(
    [...asked].map(async ([id, cause]) => {
      const ask = (signal: AbortSignal): Promise<string | undefined> => writerOf(cause, client, signal);
      const writer = await withinTime(clock, askedMsMax, nobodyStops, ask).catch(() => undefined);
      if (writer !== undefined) writers.set(id, writer);
    }),
  );
  return writers;
}

async function writerOf(
  { kind, namespace, name, resourceVersion, atMs }: Cause,
  client: Client,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { metadata } = await client.get(kind, namespace === undefined ? { name } : { namespace, name }, { signal });
  const isSame = metadata.resourceVersion === resourceVersion;
  const entries = (metadata.managedFields ?? []).filter(({ time: at = "" }) => isSame || Date.parse(at) <= atMs);
  return entries.toSorted((a, b) => ((a.time ?? "") < (b.time ?? "") ? 1 : -1))[0]?.manager;
}

function conditionsOf(object: Stored<KubeObject> | undefined): WhyReport["conditions"] {
  // The parsing border: conditions of a status have this form by the API's conventions.
  const { conditions } = (object as { readonly status?: { readonly conditions?: unknown } } | undefined)?.status ?? {};
  return Array.isArray(conditions) ? (conditions as WhyReport["conditions"]) : [];
}

function isNamed({ kind, plural, group }: KindRef, name: string): boolean {
  const asked = name.toLowerCase();
  const names = [kind.toLowerCase(), plural.toLowerCase()];
  return names.some((each) => each === asked || `${each}.${group}` === asked);
}

function keyOf(kind: KindRef, query: WhyQuery): string {
  return storeKey(kind.namespaced ? { namespace: namespaceOf(query), name: query.name } : { name: query.name });
}

function namespaceOf({ namespace = "default" }: WhyQuery): string {
  return namespace;
}

function nameOf(key: string): { readonly namespace?: string; readonly name: string } {
  const slash = key.indexOf("/");
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function idOf({
  kind,
  namespace,
  name,
  resourceVersion,
}: Pick<Cause, "kind" | "namespace" | "name" | "resourceVersion">): string {
  return `${kind.plural}.${kind.group}/${namespace ?? ""}/${name}@${resourceVersion}`;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
