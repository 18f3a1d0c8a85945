/** When a world is at rest, and what must hold then. */
import type { Storage } from "@setpoint/apiserver";
import type { KindRef } from "@setpoint/client";
import { describeFailing, type FailingReconcile, failureMessage } from "./reconcile-failures.ts";
import { unsettledReason } from "./settled.ts";
import type { SlowedKey } from "@setpoint/runtime";
import type { SimulatedOperator } from "./simulated-operator.ts";
import { prefixOf } from "./storage-prefix.ts";
import { lineOf, type Trace, type TraceEntry } from "./trace.ts";
import type { QuietOptions, SettledOptions } from "./world.ts";
import type { WorldObjects } from "./world-objects.ts";
import { linesMax, seconds, withinDefaultMs, type WorldTime } from "./world-time.ts";

export interface RestParts {
  readonly trace: Trace;
  readonly operators: readonly SimulatedOperator[];
  /** The kinds that the operators reconcile. */
  readonly kinds: readonly KindRef[];
  readonly storage: Pick<Storage, "get">;
  /** Errors with which a reconcile may still fail at rest. */
  readonly mayFail: readonly (string | RegExp)[];
}

/** Longer than every polling interval (an operator polls its operands every ten seconds). */
const silentMs = 15_000;
const lookMs = 100;
/**
 * How long the retries of failing reconciles may take, with the work that follows from those that succeed.
 */
const retryMsMax = 15_000;
const recoveryMsMax = 60_000;
const hourMs = 3_600_000;

export class WorldRest {
  readonly #parts: RestParts;
  readonly #time: WorldTime;
  readonly #objects: WorldObjects;
  readonly #assertSafe: () => void;

  /** `assertSafe` throws when a safety rule was broken. */
  constructor(parts: RestParts, time: WorldTime, objects: WorldObjects, assertSafe: () => void) {
    this.#parts = parts;
    this.#time = time;
    this.#objects = objects;
    this.#assertSafe = assertSafe;
  }

  async settled({ within = withinDefaultMs, failing }: SettledOptions = {}): Promise<void> {
    let deadlineMs = this.#time.nowMs + within;
    let reason = "the operator is busy";
    for (;;) {
      const leftMs = deadlineMs - this.#time.nowMs;
      const isSilent = await this.#silence(leftMs);
      this.#assertSafe();
      reason = (await this.#unsettled()) ?? (isSilent ? "" : "something is still being written");
      if (reason === "" && this.failing(failing).length === 0) return this.#assertExpected(failing);
      if (reason !== "" && (!isSilent || leftMs <= 0))
        throw this.#time.error(
          `Not settled after ${seconds(within)} of virtual time: ${reason}${this.failuresText(failing)}`,
        );
      if (reason !== "") await this.#time.advance(lookMs);
      else if (await this.#recovers(deadlineMs - this.#time.nowMs, failing))
        deadlineMs = Math.max(deadlineMs, this.#time.nowMs + recoveryMsMax);
      else throw this.#time.error(`Not settled:${this.failuresText(failing)}`);
    }
  }

  async expectQuiet({ hours = 1, failing }: QuietOptions = {}): Promise<void> {
    const from = this.#parts.trace.entries.length;
    await this.#time.advance(hours * hourMs);
    this.#assertSafe();
    const failures = this.failuresText(failing);
    if (failures !== "") throw this.#time.error(`Not well at rest:${failures}`);
    const [loop] = this.#parts.operators.flatMap(({ loops }) => loops);
    if (loop !== undefined) throw this.#time.error(`Not quiet: ${describeLoop(loop)}`);
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

  /** Reconciles that fail and that neither `mayFail` nor `expected` allows. */
  failing(expected?: string | RegExp): readonly FailingReconcile[] {
    const { operators, storage, mayFail } = this.#parts;
    const allowed = expected === undefined ? mayFail : [...mayFail, expected];
    return [...new Set(operators.flatMap((each) => each.failing))].filter(({ kind, key, error }) => {
      const isThere = storage.get({ prefix: prefixOf(kind), path: key }) !== undefined;
      return isThere && !allowed.some((each) => isMatching(error, each));
    });
  }

  failuresText(expected?: string | RegExp): string {
    const texts = this.failing(expected).map((each) => `\n${describeFailing(each)}`);
    return texts.length === 0
      ? ""
      : `${texts.join("")}\nif the test expects it: settled({ failing: /part of the message/ })`;
  }

  /**
   * Whether all failing reconciles succeed in time; those that back off for longer are tried once more at the
   * end.
   */
  async #recovers(limitMs: number, expected: string | RegExp | undefined): Promise<boolean> {
    const isOver = (): boolean => this.failing(expected).length === 0;
    if (await this.#time.advance(Math.max(0, limitMs), isOver)) return true;
    const { operators } = this.#parts;
    for (const failing of this.failing(expected))
      if (failing.isRetried) for (const operator of operators) if (operator.isLeader) operator.retry(failing);
    return (await this.#time.advance(retryMsMax, isOver)) || isOver();
  }

  #assertExpected(expected: string | RegExp | undefined): void {
    if (expected === undefined) return;
    const isFound = this.#parts.operators.some((each) => each.failing.some(({ error }) => isMatching(error, expected)));
    if (!isFound)
      throw this.#time.error(
        `Expected a reconcile that fails with ${textOf(expected)}: no reconcile fails with it at rest`,
      );
  }

  /**
   * Runs until all who may write have written nothing for a while and no operator has anything to do. It
   * stops there, though nothing happens at that moment.
   */
  async #silence(limitMs: number): Promise<boolean> {
    const { operators, trace } = this.#parts;
    const time = this.#time;
    const deadlineMs = time.nowMs + limitMs;
    let silentSinceMs = time.nowMs;
    let looked = trace.entries.length;
    const isSilent = (): boolean => {
      for (; looked < trace.entries.length; looked++) {
        const entry = trace.entries[looked];
        if (entry?.kind === "write") silentSinceMs = entry.atMs;
      }
      // Without a leader silence proves nothing: the next leader reconciles everything.
      if (!areLed(operators)) silentSinceMs = time.nowMs;
      return time.nowMs - silentSinceMs >= silentMs && areQuiet(operators);
    };
    for (;;) {
      const { nowMs } = time;
      const silentAtMs = silentSinceMs + silentMs;
      const untilMs = silentAtMs > nowMs ? Math.min(silentAtMs, deadlineMs) : deadlineMs;
      if ((await time.advance(untilMs - nowMs, isSilent)) || isSilent()) return true;
      if (time.nowMs >= deadlineMs) return false;
    }
  }

  async #unsettled(): Promise<string | undefined> {
    for (const kind of this.#parts.kinds)
      for (const object of await this.#objects.list(kind)) {
        const reason = unsettledReason(object);
        if (reason !== undefined) return reason;
      }
    return this.#parts.operators.flatMap(({ loops }) => loops).map(describeLoop)[0];
  }
}

/** Its requests and writes may all be gone: only the runs go on. */
function describeLoop({ controller, key, lastResult }: SlowedKey): string {
  const why = lastResult === undefined ? "" : `; the last run wants another one: "${lastResult}"`;
  return `controller "${controller}" reconciles "${key}" again and again although nothing but its own writes has changed${why}`;
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

/**
 * Whether the runtime reports a reconcile that keeps failing, by the object's status or by an Event about it.
 */
function isReportOf({ kind, key }: FailingReconcile, { what }: TraceEntry): boolean {
  const [name = "", namespace] = key.split("/").toReversed();
  const folder = namespace === undefined ? kind.plural : `${namespace}/${kind.plural}`;
  return what === `PATCH ${folder}/${name}/status` || what.includes(`/events/${name}.`);
}
