/** Looks over everybody's shoulders in one run: what an oracle may see, and what it says. */
import { type KubeObject, type UnstructuredObject, messageOf } from "@setpoint/apimachinery";
import type { Storage } from "@setpoint/apiserver";
import type { KindRef, Stored } from "@setpoint/client";
import type { LogLine, SimulatedHost } from "@setpoint/host/simulated";
import type { ControllerDefinition } from "@setpoint/runtime";
import type { Fault } from "../faults/fault.ts";
import type { Onlooker, Hop, Sighting } from "../onlooker.ts";
import type { BrokenRule, Change, Judge, Oracle, RunEnd, WorldView } from "../oracles/oracle.ts";
import type { WorldModel } from "../program-model.ts";
import { prefixOf } from "../storage-prefix.ts";
import type { ObjectName } from "../world.ts";
import { childKindsOf } from "../faults/child-kinds.ts";

/** What a recorder looks at, when the world is there. */
export interface RecordedWorld {
  readonly host: SimulatedHost;
  readonly storage: Pick<Storage, "get" | "list" | "watch" | "revision">;
  readonly controllers: readonly ControllerDefinition[];
  readonly operators: readonly string[];
  readonly models: readonly WorldModel[];
  readonly faults: readonly Fault[];
}

interface SeatedJudge {
  readonly oracle: string;
  readonly judge: Judge;
}

/** A rule that says so often that it is broken says nothing new. */
const brokenMax = 20;

export class Recorder implements Onlooker {
  readonly hops: Hop[] = [];
  readonly sightings: Sighting[] = [];
  readonly broken: BrokenRule[] = [];
  readonly #oracles: readonly Oracle[];
  #judges: readonly SeatedJudge[] = [];
  #view: View | undefined;

  constructor(oracles: readonly Oracle[]) {
    this.#oracles = oracles;
  }

  /** The story begins. */
  begin(world: RecordedWorld): void {
    const view = new View(world, this.hops);
    this.#view = view;
    this.#judges = this.#oracles.map((oracle) => ({
      oracle: oracle.name,
      judge: this.#asked(oracle.name, () => oracle.judge(view)) ?? {},
    }));
    if (this.#judges.some(({ judge }) => judge.changed !== undefined)) this.#follow(world);
  }

  passed(hop: Hop): void {
    if (this.#view === undefined) return;
    this.hops.push(hop);
    for (const { oracle, judge } of this.#judges) this.#note(oracle, () => judge.passed?.(hop));
  }

  saw(sighting: Sighting): void {
    if (this.#view !== undefined) this.sightings.push(sighting);
  }

  /** Nothing that happens from here on counts. */
  end(end: RunEnd): readonly BrokenRule[] {
    for (const { oracle, judge } of this.#judges) this.#note(oracle, () => judge.ended?.(end));
    this.#judges = [];
    return this.broken;
  }

  #follow({ storage, controllers }: RecordedWorld): void {
    const kinds = new Map<string, KindRef>();
    for (const each of [...controllers.map(({ kind }) => kind), ...childKindsOf(controllers)])
      kinds.set(prefixOf(each), each);
    for (const [prefix, kind] of kinds)
      storage.watch(prefix, storage.revision, ({ kind: event, object, previous }) => {
        const change = { kind, previous, next: event === "put" ? object : undefined };
        this.#changed(change);
      });
  }

  #changed(change: Change): void {
    for (const { oracle, judge } of this.#judges) this.#note(oracle, () => judge.changed?.(change));
  }

  #note(oracle: string, ask: () => string | undefined): void {
    const sentence = this.#asked(oracle, ask);
    if (sentence === undefined || this.broken.length >= brokenMax) return;
    if (this.broken.some((each) => each.oracle === oracle && each.sentence === sentence)) return;
    this.broken.push({ oracle, sentence, atMs: this.#view?.nowMs ?? 0 });
  }

  /** An oracle that throws is broken itself; the run goes on, and says so. */
  #asked<T>(oracle: string, ask: () => T): T | undefined {
    try {
      return ask();
    } catch (error) {
      const sentence = `the oracle itself failed: ${messageOf(error)}`;
      if (!this.broken.some((each) => each.oracle === oracle && each.sentence === sentence))
        this.broken.push({ oracle, sentence, atMs: this.#view?.nowMs ?? 0 });
      return undefined;
    }
  }
}

class View implements WorldView {
  readonly hops: readonly Hop[];
  readonly #world: RecordedWorld;

  constructor(world: RecordedWorld, hops: readonly Hop[]) {
    this.#world = world;
    this.hops = hops;
  }

  get nowMs(): number {
    return this.#world.host.clock.monotonic();
  }

  get models(): readonly WorldModel[] {
    return this.#world.models;
  }

  get controllers(): readonly ControllerDefinition[] {
    return this.#world.controllers;
  }

  get operators(): readonly string[] {
    return this.#world.operators;
  }

  get faults(): readonly Fault[] {
    return this.#world.faults;
  }

  get logs(): readonly LogLine[] {
    return this.#world.host.lines;
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: ObjectName): Stored<T> | undefined {
    const { namespace, name: own } = typeof name === "string" ? { namespace: "default", name } : name;
    const path = kind.namespaced ? `${namespace ?? "default"}/${own}` : own;
    return typed<T>(this.#world.storage.get({ prefix: prefixOf(kind), path }));
  }

  list<T extends KubeObject>(kind: KindRef<T>): readonly Stored<T>[] {
    return this.#world.storage.list(prefixOf(kind)).objects.flatMap((object) => typed<T>(object) ?? []);
  }
}

/** The parsing border: under a kind's prefix there are only objects of the kind. */
function typed<T extends KubeObject>(object: UnstructuredObject | undefined): Stored<T> | undefined {
  return object as Stored<T> | undefined;
}
