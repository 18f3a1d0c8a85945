import { PersistentVolumeClaim, Pod } from "@setpoint/api";
import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { Storage } from "@setpoint/apiserver";
import type { Client, KindRef, RestMapper, Stored } from "@setpoint/client";
import type { SimulatedHost } from "@setpoint/host/simulated";
import type { NodeModel } from "./node-model.ts";
import type { OutageKind } from "./node-outage.ts";
import type { ProgramModel } from "./program-model.ts";
import { prefixOf } from "./storage-prefix.ts";
import { describeFailing, type FailingReconcile, failureMessage } from "./reconcile-failures.ts";
import type { SimulatedOperator } from "./simulated-operator.ts";
import { unsettledReason } from "./settled.ts";
import { type StallWatch, stallWatch } from "./stall-watch.ts";
import { lineOf, type Trace, type TraceEntry } from "./trace.ts";
import { WorldGuard } from "./world-guard.ts";
import type { ObjectName, QuietOptions, SettledOptions, WaitOptions, World } from "./world.ts";

export interface WorldParts {
  readonly host: SimulatedHost;
  readonly trace: Trace;
  readonly client: Client;
  readonly nodes: NodeModel;
  readonly operators: readonly SimulatedOperator[];
  /** The kinds that the operators reconcile. */
  readonly kinds: readonly KindRef[];
  readonly models: readonly ProgramModel[];
  readonly storage: Pick<Storage, "get">;
  /** Errors with which a reconcile may still fail at rest. */
  readonly mayFail: readonly (string | RegExp)[];
  /** How long one step may take, in milliseconds of real time. */
  readonly stallMsMax: number;
}

const withinDefaultMs = 120_000;
/** Longer than every polling interval (an operator polls its operands every ten seconds). */
const silentMs = 15_000;
const lookMs = 100;
/**
 * How long the retries of failing reconciles may take, with the work that follows from those that succeed.
 */
const retryMsMax = 15_000;
const recoveryMsMax = 60_000;
const hourMs = 3_600_000;
/** Lines of the trace in an error. */
const linesMax = 12;

export class RunningWorld implements World {
  readonly #parts: WorldParts;
  readonly #guard = new WorldGuard();
  readonly #stalls: StallWatch;
  #mapper: RestMapper | undefined;
  #hasEnded = false;

  constructor(parts: WorldParts) {
    this.#parts = parts;
    this.#stalls = stallWatch(parts.stallMsMax);
  }

  /**
   * Runs a function as a part of the world: it and all that it starts have no real time, chance or network.
   */
  enter<T>(run: () => T): T {
    return this.#guard.enter(run);
  }

  get host(): SimulatedHost {
    return this.#parts.host;
  }

  get client(): Client {
    return this.#parts.client;
  }

  get trace(): readonly string[] {
    return this.#parts.trace.lines();
  }

  get operatorWrites(): number {
    return this.#parts.operators.reduce((sum, each) => sum + each.writeCount, 0);
  }

  traceHash(): string {
    return this.#parts.trace.hash();
  }

  async wait<T>(promise: Promise<T>, { within = withinDefaultMs }: WaitOptions = {}): Promise<T> {
    let isDone = false;
    const watched = promise.finally(() => (isDone = true));
    // Its rejection goes to the caller as soon as time has passed.
    watched.catch(() => {});
    const isInTime = await this.#advance(within, () => isDone);
    this.#assertGuarded();
    if (!isInTime) throw this.#error(`A promise is still pending after ${seconds(within)} of virtual time`);
    return watched;
  }

  apply<T extends KubeObject>(object: T): Promise<Stored<T>> {
    const { client } = this;
    const { namespace = "default" } = object.metadata;
    return this.wait(
      this.#resourceOf(object).then((resource) => {
        const placed = resource.namespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object;
        return client.apply<T>(resource as KindRef<T>, placed, { fieldManager: "user", force: true });
      }),
    );
  }

  /** Asks the server again when it did not serve the kind the last time. */
  async #resourceOf(object: KubeObject): Promise<KindRef> {
    try {
      if (this.#mapper !== undefined) return this.#mapper.ofObject(object);
    } catch {
      this.#mapper = undefined;
    }
    this.#mapper = await this.client.discover();
    return this.#mapper.ofObject(object);
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: ObjectName): Promise<Stored<T>> {
    return this.wait(this.client.get(kind, keyOf(kind, name)));
  }

  async list<T extends KubeObject>(kind: KindRef<T>): Promise<readonly Stored<T>[]> {
    return (await this.wait(this.client.listAll(kind))).items;
  }

  patch<T extends KubeObject>(kind: KindRef<T>, name: ObjectName, patch: unknown): Promise<Stored<T>> {
    return this.wait(this.client.patch(kind, keyOf(kind, name), patch));
  }

  async delete(kind: KindRef, name: ObjectName): Promise<void> {
    const key = keyOf(kind, name);
    this.#forgive(kind, key.name);
    await this.wait(this.client.delete(kind, key));
  }

  async run(milliseconds: number): Promise<void> {
    await this.#advance(milliseconds);
    this.#assertSafe();
  }

  async settled({ within = withinDefaultMs, failing }: SettledOptions = {}): Promise<void> {
    const { clock } = this.host;
    let deadlineMs = clock.monotonic() + within;
    let reason = "the operator is busy";
    for (;;) {
      const leftMs = deadlineMs - clock.monotonic();
      const isSilent = await this.#silence(leftMs);
      this.#assertSafe();
      reason = (await this.#unsettled()) ?? (isSilent ? "" : "something is still being written");
      if (reason === "" && this.#failing(failing).length === 0) return this.#assertExpected(failing);
      if (reason !== "" && (!isSilent || leftMs <= 0))
        throw this.#error(
          `Not settled after ${seconds(within)} of virtual time: ${reason}${this.#failuresText(failing)}`,
        );
      if (reason !== "") await this.#advance(lookMs);
      else if (await this.#recovers(deadlineMs - clock.monotonic(), failing))
        deadlineMs = Math.max(deadlineMs, clock.monotonic() + recoveryMsMax);
      else throw this.#error(`Not settled:${this.#failuresText(failing)}`);
    }
  }

  /** Sentences about reconciles whose last run threw, each with its stack. */
  get failures(): readonly string[] {
    return this.#failing().map(describeFailing);
  }

  /** Reconciles that fail and that `mayFail` does not allow. */
  #failing(expected?: string | RegExp): readonly FailingReconcile[] {
    const { operators, storage, mayFail } = this.#parts;
    const allowed = expected === undefined ? mayFail : [...mayFail, expected];
    return [...new Set(operators.flatMap((each) => each.failing))].filter(({ kind, key, error }) => {
      const isThere = storage.get({ prefix: prefixOf(kind), path: key }) !== undefined;
      return isThere && !allowed.some((each) => isMatching(error, each));
    });
  }

  /** Whether all failing reconciles succeed in time; those that back off for longer are tried once more at the end. */
  async #recovers(limitMs: number, expected: string | RegExp | undefined): Promise<boolean> {
    const isOver = (): boolean => this.#failing(expected).length === 0;
    if (await this.#advance(Math.max(0, limitMs), isOver)) return true;
    const { operators } = this.#parts;
    for (const failing of this.#failing(expected))
      if (failing.isRetried) for (const operator of operators) if (operator.isLeader) operator.retry(failing);
    return (await this.#advance(retryMsMax, isOver)) || isOver();
  }

  #assertExpected(expected: string | RegExp | undefined): void {
    if (expected === undefined) return;
    const isFound = this.#parts.operators.some((each) => each.failing.some(({ error }) => isMatching(error, expected)));
    if (!isFound)
      throw this.#error(`Expected a reconcile that fails with ${textOf(expected)}: no reconcile fails with it at rest`);
  }

  #failuresText(expected: string | RegExp | undefined): string {
    const texts = this.#failing(expected).map((each) => `\n${describeFailing(each)}`);
    return texts.length === 0
      ? ""
      : `${texts.join("")}\nif the test expects it: settled({ failing: /part of the message/ })`;
  }

  async until(
    what: string,
    condition: () => boolean | Promise<boolean>,
    { within = withinDefaultMs }: WaitOptions = {},
  ): Promise<void> {
    const deadlineMs = this.host.clock.monotonic() + within;
    while (!(await condition())) {
      if (this.host.clock.monotonic() >= deadlineMs)
        throw this.#error(`Not after ${seconds(within)} of virtual time: ${what}${this.#failuresText(undefined)}`);
      await this.run(lookMs);
    }
  }

  async expectQuiet({ hours = 1, failing }: QuietOptions = {}): Promise<void> {
    const from = this.#parts.trace.entries.length;
    await this.run(hours * hourMs);
    const failures = this.#failuresText(failing);
    if (failures !== "") throw this.#error(`Not well at rest:${failures}`);
    const allowed = this.#parts.operators.flatMap((operator) => operator.failing);
    const loud = this.#parts.trace.entries
      .slice(from)
      .filter((entry) => isLoud(entry) && !allowed.some((each) => isReportOf(each, entry)));
    if (loud.length > 0)
      throw new Error(
        `Not quiet: ${loud.length} requests in ${hours} hours at rest\n${loud.slice(0, linesMax).map(lineOf).join("\n")}`,
      );
    this.#assertExpected(failing);
  }

  runs(pod: ObjectName): boolean {
    return this.#parts.nodes.runs(keyOf(Pod, pod));
  }

  kill(pod: ObjectName): void {
    this.#parts.nodes.kill(keyOf(Pod, pod));
  }

  killAll(): void {
    this.#parts.nodes.killAll();
  }

  failNode(node: string, kind: OutageKind = "off"): void {
    for (const pod of this.#parts.nodes.podNames(node)) this.#forgivePod(pod);
    this.#parts.nodes.failNode(node, kind);
  }

  recoverNode(node: string): Promise<void> {
    return this.wait(this.#parts.nodes.recoverNode(node));
  }

  async loseVolume(claim: ObjectName): Promise<void> {
    const key = keyOf(PersistentVolumeClaim, claim);
    const { metadata } = await this.wait(this.client.get(PersistentVolumeClaim, key));
    // The model knows which pods use it; an operator is not at fault for the data that they lose.
    for (const model of this.#parts.models) model.forgive?.();
    this.#parts.nodes.loseVolume(metadata.uid);
    // Without its finalizer, because nothing waits for the pods of a lost disk.
    await this.patch(PersistentVolumeClaim, key, { metadata: { finalizers: null } });
    await this.wait(this.client.delete(PersistentVolumeClaim, key).catch(() => {}));
  }

  pauseOperator(forMs: number, replica?: number): void {
    for (const operator of this.#replicas(replica)) operator.pause(forMs);
  }

  jumpOperatorClock(byMs: number, replica?: number): void {
    for (const operator of this.#replicas(replica)) operator.jumpClock(byMs);
  }

  #replicas(replica: number | undefined): readonly SimulatedOperator[] {
    const { operators } = this.#parts;
    return replica === undefined ? operators : operators.filter((each) => each.replica === replica);
  }

  async restartOperator(): Promise<void> {
    for (const operator of this.#parts.operators) {
      operator.kill();
      this.enter(() => operator.start());
    }
    await this.wait(Promise.all(this.#parts.operators.map(({ ready }) => ready)));
  }

  stopOperator(): void {
    for (const operator of this.#parts.operators) operator.kill();
  }

  crashOperatorAt(write: number, when: "before" | "after"): void {
    for (const operator of this.#parts.operators) operator.strikeAt(write, { kind: "crash", when });
  }

  loseAnswerOf(write: number): void {
    for (const operator of this.#parts.operators) operator.strikeAt(write, { kind: "lose" });
  }

  /**
   * Time stands still for good. Nothing gets a signal: timers and requests of the world are garbage with it.
   */
  [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    return Promise.resolve();
  }

  /**
   * Advances time, as `VirtualClock.run`. Code that runs meanwhile has no real time, chance or network and
   * may not run for ever.
   */
  async #advance(limitMs: number, done: () => boolean = () => false): Promise<boolean> {
    if (this.#hasEnded) throw new Error("Cannot let time pass in a world that has ended");
    const isOver = (): boolean => {
      this.#stalls.step();
      return this.#hasEnded || this.#guard.violations.length > 0 || done();
    };
    return this.#stalls.watched(() => this.#guard.enter(() => this.host.clock.run(limitMs, isOver)));
  }

  #assertGuarded(): void {
    const [violation] = this.#guard.violations;
    if (violation !== undefined) throw new Error(violation);
  }

  /**
   * Runs until all who may write have written nothing for a while and no operator has anything to do. It
   * stops there, though nothing happens at that moment.
   */
  async #silence(limitMs: number): Promise<boolean> {
    const { clock } = this.host;
    const { operators, trace } = this.#parts;
    const deadlineMs = clock.monotonic() + limitMs;
    let silentSinceMs = clock.monotonic();
    let looked = trace.entries.length;
    const isSilent = (): boolean => {
      for (; looked < trace.entries.length; looked++) {
        const entry = trace.entries[looked];
        if (entry?.kind === "write") silentSinceMs = entry.atMs;
      }
      // Without a leader silence proves nothing: the next leader reconciles everything.
      if (!areLed(operators)) silentSinceMs = clock.monotonic();
      return clock.monotonic() - silentSinceMs >= silentMs && areQuiet(operators);
    };
    for (;;) {
      const nowMs = clock.monotonic();
      const silentAtMs = silentSinceMs + silentMs;
      const untilMs = silentAtMs > nowMs ? Math.min(silentAtMs, deadlineMs) : deadlineMs;
      if ((await this.#advance(untilMs - nowMs, isSilent)) || isSilent()) return true;
      if (clock.monotonic() >= deadlineMs) return false;
    }
  }

  async #unsettled(): Promise<string | undefined> {
    for (const kind of this.#parts.kinds)
      for (const object of await this.list(kind)) {
        const reason = unsettledReason(object);
        if (reason !== undefined) return reason;
      }
    return undefined;
  }

  /**
   * A client that deletes a pod, or an object for which an operator keeps pods, may break rules that an
   * operator may not.
   */
  #forgive(kind: KindRef, name: string): void {
    const isPod = kind.kind === "Pod" && kind.group === "";
    if (!isPod && !this.#parts.kinds.includes(kind)) return;
    if (isPod) this.#forgivePod(name);
    else for (const model of this.#parts.models) model.forgive?.();
  }

  #forgivePod(name: string): void {
    for (const model of this.#parts.models) model.forgive?.(name);
  }

  #assertSafe(): void {
    this.#assertGuarded();
    const violations = this.#parts.models.flatMap((model) => model.violations ?? []);
    if (violations.length > 0) throw this.#error(`A safety rule was broken: ${violations.join("; ")}`);
  }

  #error(message: string): Error {
    const writes = this.#parts.trace.entries.filter(({ kind }) => kind === "write");
    return new Error(`${message}\nthe last writes:\n${writes.slice(-linesMax).map(lineOf).join("\n")}`);
  }
}

/** Whether each operator has a replica that may write. */
function areLed(operators: readonly SimulatedOperator[]): boolean {
  return operators.every(({ group }) => operators.some((each) => each.group === group && each.isLeader));
}

/** Whether every operator that may write is idle. */
function areQuiet(operators: readonly SimulatedOperator[]): boolean {
  return operators.every(({ isLeader, isQuiet }) => !isLeader || isQuiet);
}

function isMatching(error: unknown, expected: string | RegExp): boolean {
  const message = failureMessage(error);
  return typeof expected === "string" ? message.includes(expected) : expected.test(message);
}

function textOf(expected: string | RegExp): string {
  return typeof expected === "string" ? `"${expected}"` : String(expected);
}

function isLoud({ kind }: TraceEntry): boolean {
  return kind === "write" || kind === "read";
}

/** Whether the runtime reports a reconcile that keeps failing, by the object's status or by an Event about it. */
function isReportOf({ kind, key }: FailingReconcile, { what }: TraceEntry): boolean {
  const [name = "", namespace] = key.split("/").toReversed();
  const folder = namespace === undefined ? kind.plural : `${namespace}/${kind.plural}`;
  return what === `PATCH ${folder}/${name}/status` || what.includes(`/events/${name}.`);
}

function keyOf(kind: KindRef, name: ObjectName): NamespacedName {
  const key = typeof name === "string" ? { name } : name;
  return kind.namespaced ? { namespace: "default", ...key } : key;
}

function seconds(milliseconds: number): string {
  return `${milliseconds / 1_000} s`;
}
