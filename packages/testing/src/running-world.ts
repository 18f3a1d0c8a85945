import { PersistentVolumeClaim, Pod } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { SimulatedHost } from "@setpoint/host/simulated";
import type { NodeModel } from "./node-model.ts";
import type { OutageKind } from "./node-outage.ts";
import type { WorldModel } from "./program-model.ts";
import { describeFailing } from "./reconcile-failures.ts";
import type { SimulatedOperator } from "./simulated-operator.ts";
import type { ObjectName, QuietOptions, SettledOptions, WaitOptions, World } from "./world.ts";
import { keyOf, WorldObjects } from "./world-objects.ts";
import { type RestParts, WorldRest } from "./world-rest.ts";
import { seconds, withinDefaultMs, WorldTime } from "./world-time.ts";

export interface WorldParts extends RestParts {
  readonly host: SimulatedHost;
  readonly client: Client;
  readonly nodes: NodeModel;
  readonly models: readonly WorldModel[];
  /** How long one step may take, in milliseconds of real time. */
  readonly stallMsMax: number;
}

const lookMs = 100;

export class RunningWorld implements World {
  readonly #parts: WorldParts;
  readonly #time: WorldTime;
  readonly #objects: WorldObjects;
  readonly #rest: WorldRest;

  constructor(parts: WorldParts) {
    this.#parts = parts;
    this.#time = new WorldTime(parts.host, parts.trace, parts.stallMsMax);
    this.#objects = new WorldObjects(parts.client, this.#time);
    this.#rest = new WorldRest(parts, this.#time, this.#objects, () => this.#assertSafe());
  }

  /**
   * Runs a function as a part of the world: it and all that it starts have no real time, chance or network.
   */
  enter<T>(run: () => T): T {
    return this.#time.enter(run);
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

  wait<T>(promise: Promise<T>, options?: WaitOptions): Promise<T> {
    return this.#time.wait(promise, options);
  }

  apply<T extends KubeObject>(object: T): Promise<Stored<T>> {
    return this.#objects.apply(object);
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: ObjectName): Promise<Stored<T>> {
    return this.#objects.get(kind, name);
  }

  list<T extends KubeObject>(kind: KindRef<T>): Promise<readonly Stored<T>[]> {
    return this.#objects.list(kind);
  }

  patch<T extends KubeObject>(kind: KindRef<T>, name: ObjectName, patch: unknown): Promise<Stored<T>> {
    return this.#objects.patch(kind, name, patch);
  }

  delete(kind: KindRef, name: ObjectName): Promise<void> {
    this.#forgive(kind, keyOf(kind, name).name);
    return this.#objects.delete(kind, name);
  }

  async run(milliseconds: number): Promise<void> {
    await this.#time.advance(milliseconds);
    this.#assertSafe();
  }

  settled(options?: SettledOptions): Promise<void> {
    return this.#rest.settled(options);
  }

  /** Sentences about reconciles whose last run threw, each with its stack. */
  get failures(): readonly string[] {
    return this.#rest.failing().map(describeFailing);
  }

  async until(
    what: string,
    condition: () => boolean | Promise<boolean>,
    { within = withinDefaultMs }: WaitOptions = {},
  ): Promise<void> {
    const deadlineMs = this.#time.nowMs + within;
    while (!(await condition())) {
      if (this.#time.nowMs >= deadlineMs)
        throw this.#time.error(`Not after ${seconds(within)} of virtual time: ${what}${this.#rest.failuresText()}`);
      await this.run(lookMs);
    }
  }

  expectQuiet(options?: QuietOptions): Promise<void> {
    return this.#rest.expectQuiet(options);
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
    this.#time.end();
    return Promise.resolve();
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
    this.#time.assertGuarded();
    const violations = this.#parts.models.flatMap((model) => model.violations ?? []);
    if (violations.length > 0) throw this.#time.error(`A safety rule was broken: ${violations.join("; ")}`);
  }
}
