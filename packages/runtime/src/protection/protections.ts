/** What stands between a controller that went wrong and the cluster: it is slowed down or stopped, and says so. */
import { isApiError, type KubeObject } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Host, Logger } from "@setpoint/host";
import { storeKey } from "../cache/store.ts";
import { conditionsOf } from "../status/conditions.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ConditionInit } from "../controller/reconcile-context.ts";
import type { PlannedWrite, WriteGuard } from "../writes/write-guard.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import { FieldFights, otherManagerOf, type Fight } from "./field-fights.ts";
import { HotLoops } from "./hot-loops.ts";
import { WriteBudget } from "./write-budget.ts";

const idleRunsPerMinuteDefault = 120;
/** The condition of an object whose reconcile is slowed down; its reason is `HotLoop` or `FieldFight`. */
const conditionType = "Slowed";
const hotLoopMessage =
  "Its reconcile runs again and again although nothing but its own writes has changed; it is slowed down until something does";

export interface ProtectionsOptions {
  readonly definition: ControllerDefinition;
  readonly host: Host;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly client: Client;
  /** All present children of all objects of the controller. */
  childCount(this: void): number;
}

export class Protections implements WriteGuard {
  readonly #options: ProtectionsOptions;
  readonly #loops: HotLoops;
  readonly #fights = new FieldFights();
  readonly #budget: WriteBudget;
  readonly #stopCounting: () => void;

  constructor(options: ProtectionsOptions) {
    const { definition, host, log, childCount } = options;
    const limits = definition.limits ?? {};
    this.#options = options;
    this.#loops = new HotLoops(limits.idleRunsPerMinute ?? idleRunsPerMinuteDefault);
    this.#budget = new WriteBudget({ controller: definition.name, limits, host, log, childCount });
    this.#stopCounting = host.metrics.onExpose(() => this.#count());
  }

  check(write: PlannedWrite): void {
    this.#budget.check(write);
  }

  written(write: PlannedWrite): void {
    this.#fights.note(write, this.#nowMs);
  }

  /** In how many milliseconds the key may run. */
  waitMs(key: string, object: KubeObject): number {
    const nowMs = this.#nowMs;
    return Math.max(this.#loops.waitMs(key, nowMs), this.#fights.waitMs(key, object, nowMs));
  }

  /** Something that this controller has not done itself has changed. */
  inputChanged(key: string): void {
    this.#loops.release(key);
  }

  forget(key: string): void {
    this.#loops.release(key);
    this.#fights.release(key);
  }

  close(): void {
    this.#count();
    this.#stopCounting();
  }

  /** Whether anything is remembered of the key. */
  knows(key: string): boolean {
    return this.#loops.has(key) || this.isFighting(key);
  }

  isFighting(key: string): boolean {
    return this.#fights.of(key) !== undefined;
  }

  /** Before a run of a key that fights: asks the server who the other is, while it shows the other's value. */
  async beforeRun(key: string, object: Stored<KubeObject>): Promise<void> {
    const fight = this.#fights.of(key);
    if (fight === undefined || fight.isTold) return;
    if (!fight.isAsked) {
      fight.isAsked = true;
      fight.manager = await this.#askWho(fight);
    }
    fight.isTold = true;
    this.#tell(object, "FieldFight", fightMessage(fight));
  }

  /**
   * After a run that has not failed. `isEcho`: what woke the key meanwhile, if anything, were its own writes; `isSoon`: it runs
   * again soon. Returns in how many milliseconds the key should run once more to take back what its condition says.
   */
  afterRun(key: string, object: Stored<KubeObject>, isEcho: boolean, isSoon: boolean): number | undefined {
    const fight = this.#fights.of(key);
    if (fight !== undefined) return Math.max(0, fight.untilMs - this.#nowMs);
    if (isEcho && isSoon) {
      if (this.#loops.again(key, this.#nowMs)) this.#tell(object, "HotLoop", hotLoopMessage);
      return undefined;
    }
    return this.#loops.release(key) ? 0 : undefined;
  }

  /** Why the key is slowed down; undefined when it is not. */
  messageOf(key: string): string | undefined {
    const fight = this.#fights.of(key);
    if (fight !== undefined) return fightMessage(fight);
    return this.#loops.isSlow(key) ? hotLoopMessage : undefined;
  }

  /** What the object's condition has to say; undefined when it says it, or there is nothing to say. */
  conditionOf(key: string, object: Stored<KubeObject>): ConditionInit | undefined {
    const fight = this.#fights.of(key);
    if (fight?.isTold === true)
      return { type: conditionType, status: "True", reason: "FieldFight", message: fightMessage(fight) };
    if (this.#loops.isSlow(key))
      return { type: conditionType, status: "True", reason: "HotLoop", message: hotLoopMessage };
    const isSlowed = conditionsOf((object as { readonly status?: object }).status).some(
      ({ type, status }) => type === conditionType && status === "True",
    );
    if (!isSlowed) return undefined;
    return { type: conditionType, status: "False", reason: "AsUsual", message: "It runs at its usual pace" };
  }

  get #nowMs(): number {
    return this.#options.host.clock.monotonic();
  }

  async #askWho({ kind, child }: Fight): Promise<string | undefined> {
    try {
      const present = await this.#options.client.get<KubeObject>(kind, child);
      return otherManagerOf(present, this.#options.definition.fieldManager);
    } catch (error) {
      if (!isApiError(error)) this.#options.log.debug("Could not ask who changes a child", { error });
      return undefined;
    }
  }

  #tell(object: Stored<KubeObject>, reason: "HotLoop" | "FieldFight", message: string): void {
    const { definition, events, host, log } = this.#options;
    log.warn("Slowed down a key", { object: storeKey(object.metadata), reason, message });
    events.record(object, definition.name, { type: "Warning", reason, message });
    host.metrics
      .counter("setpoint_protections_total", "Times that a protection has slowed down a key of a controller.")
      .add(1, { controller: definition.name, reason });
  }

  #count(): void {
    const { definition, host } = this.#options;
    host.metrics
      .gauge("setpoint_slowed_keys", "Keys that a protection slows down.")
      .set(this.#loops.slowCount + this.#fights.size, { controller: definition.name });
  }
}

function fightMessage({ kind, child, manager }: Fight): string {
  const who = manager === undefined ? "somebody else" : `"${manager}"`;
  return `${kind.kind} "${child.name}" is set back and forth: ${who} changes again and again what this controller applies; one of the two must let go`;
}
