/**
 * Laws of a kind's spec, as Acto holds them: a change has an effect, the same result follows from any earlier
 * state, and a change can be reverted.
 */
import { encodeJson, isApiError, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import type { StructuralSchema } from "@setpoint/schema";
import { chancePaths, differences, type EndState, endState } from "../oracles/end-state.ts";
import { type SpecOperation, specFields, specOperations } from "../explore/spec-operations.ts";
import { settingOf, type Subject } from "../explore/story.ts";
import { FaultBoard } from "../faults/fault-board.ts";
import { simulateWatched, type WatchedWorld } from "../simulate.ts";

/** A kind that `defineKind` returned. */
export interface KindWithSchema extends KindRef<KubeObject> {
  crd(): KubeObject;
}

/** The kind whose spec is changed field by field, and the known exceptions. */
export interface SpecLawOptions {
  readonly kind: KindWithSchema;
  /** The object from which each operation begins. */
  readonly base: KubeObject;
  readonly seed?: number;
  /** Values by path (`spec.version`) for fields whose texts cannot be guessed. */
  readonly samples?: Readonly<Record<string, readonly unknown[]>>;
  /** Fields whose change has no visible effect in the cluster at once, each with the reason. */
  readonly ignored?: Readonly<Record<string, string>>;
  /**
   * Fields of the spec with which a fresh object ends in another state than a changed one, each with the
   * reason.
   */
  readonly historical?: Readonly<Record<string, string>>;
  /** Fields of objects that may end otherwise than with a fresh object, as in `reconcilerLaws`. */
  readonly mayDiffer?: readonly string[];
  /** Only these fields are changed. */
  readonly only?: readonly string[];
  readonly withinMs?: number;
  /** Real time after which no new operation begins. */
  readonly seconds?: number;
  readonly clock?: Clock;
}

/** Which fields of the spec were changed, and what went wrong. */
export interface SpecReport {
  /** All fields of the spec; `exercised` are those that an operation changed. */
  readonly fields: readonly string[];
  readonly exercised: readonly string[];
  readonly operations: number;
  /** Operations that the API refused, as it should or not. */
  readonly refused: number;
  /** One sentence for each broken law. */
  readonly failures: readonly string[];
  readonly tookMs: number;
}

const withinDefaultMs = 300_000;
/** Runs of the base from other seeds, which show the random parts. */
const chanceRuns = 2;
const linesMax = 3;

/** Runs every operation that follows from the schema, each from the base; throws when a law broke. */
export async function specLaws(subject: Subject, options: SpecLawOptions): Promise<SpecReport> {
  const report = await exploreSpec(subject, options);
  if (report.failures.length === 0) return report;
  throw new SetpointError(
    "ERR_LAW_BROKEN",
    `${report.failures.length} of ${report.operations} operations on ${options.kind.kind} break a law\n${report.failures.join("\n")}`,
  );
}

/** As `specLaws`, without the verdict. */
export async function exploreSpec(subject: Subject, options: SpecLawOptions): Promise<SpecReport> {
  const { kind, base, seed = 1, samples, only, seconds = Infinity, clock = systemClock } = options;
  const startedMs = clock.monotonic();
  const schema = specSchemaOf(kind);
  const operations = specOperations(schema, base, seed, samples).filter(
    ({ path }) => only === undefined || only.includes(path),
  );
  const runs = new SpecRuns(subject, options);
  const reference = await runs.base();
  const failures: string[] = [];
  const exercised = new Set<string>();
  let refused = 0;
  for (const operation of operations) {
    if (clock.monotonic() - startedMs >= seconds * 1_000) break;
    exercised.add(operation.path);
    const result = await runs.judge(operation, reference);
    if (result.isRefused) refused++;
    failures.push(...result.sentences.map((sentence) => `${operation.what} ${operation.path}: ${sentence}`));
  }
  return {
    fields: specFields(schema),
    exercised: [...exercised],
    operations: operations.length,
    refused,
    failures,
    tookMs: clock.monotonic() - startedMs,
  };
}

interface Base {
  readonly state: EndState;
  readonly chance: ReadonlySet<string>;
}

class SpecRuns {
  readonly #subject: Subject;
  readonly #options: SpecLawOptions;

  constructor(subject: Subject, options: SpecLawOptions) {
    this.#subject = subject;
    this.#options = options;
  }

  async base(): Promise<Base> {
    const { base, seed = 1, mayDiffer = [] } = this.#options;
    const states: EndState[] = [];
    for (let run = 0; run <= chanceRuns; run++) states.push(await this.#fresh(base, seed + run));
    const [state = new Map()] = states;
    return { state, chance: new Set([...chancePaths(states), ...mayDiffer]) };
  }

  async judge(
    operation: SpecOperation,
    reference: Base,
  ): Promise<{ readonly isRefused: boolean; readonly sentences: readonly string[] }> {
    const { seed = 1, kind, base, ignored = {}, historical = {} } = this.#options;
    const watched = await this.#build(seed);
    await using world = watched.world;
    const name = { name: base.metadata.name ?? "", namespace: base.metadata.namespace ?? "default" };
    await world.apply(base);
    await this.#settle(watched);
    const before = endState(watched);
    const specBefore = specOf(await world.get(kind, name));
    try {
      await world.patch(kind, name, operation.patch);
    } catch (error) {
      if (!isApiError(error)) throw error;
      const stays = await this.#settle(watched);
      return {
        isRefused: true,
        sentences: [...stays, ...this.#compare("after the refusal", watched, before, reference)],
      };
    }
    const settles = await this.#settle(watched);
    const wanted = await world.get(kind, name);
    const sentences: string[] = [];
    if (operation.what === "invalid") sentences.push("the API takes what the schema does not allow");
    if (settles.length === 0) {
      const state = endState(watched);
      const isChange = encodeJson(specOf(wanted)) !== encodeJson(specBefore);
      if (isChange && ignored[operation.path] === undefined && isSameBut(kind, state, before, reference.chance))
        sentences.push("it has no effect: nothing but the object itself has changed");
      const isComparable = historical[operation.path] === undefined;
      const recreated = !isComparable
        ? undefined
        : await this.#fresh(withoutServerFields(wanted), seed).catch(() => undefined);
      if (recreated !== undefined)
        sentences.push(...this.#compare("not what a fresh object comes to", watched, recreated, reference));
    }
    // An impossible spec may wait for ever; after the revert all must be well again.
    await world.patch(kind, name, { spec: backTo(base, operation) }).catch((error: unknown) => {
      if (!isApiError(error)) throw error;
    });
    const now = await world.get(kind, name);
    if (covers(specOf(now), specOf(base)))
      sentences.push(...(await this.#settle(watched)).map((each) => `taken back, ${each}`));
    return { isRefused: false, sentences };
  }

  async #fresh(object: KubeObject, seed: number): Promise<EndState> {
    const watched = await this.#build(seed);
    await using world = watched.world;
    await world.apply(object);
    const [reason] = await this.#settle(watched);
    if (reason !== undefined) throw new Error(reason);
    return endState(watched);
  }

  #build(seed: number): Promise<WatchedWorld> {
    const { oracles: _oracles, ...setting } = settingOf(this.#subject);
    return simulateWatched({ controllers: "observed", ...setting, seed }, { board: new FaultBoard() });
  }

  /** Why it is not settled. */
  async #settle({ world }: WatchedWorld): Promise<readonly string[]> {
    const within = this.#options.withinMs ?? withinDefaultMs;
    return world.settled({ within }).then(
      () => [],
      (error: unknown) => [String(error instanceof Error ? error.message : error).split("\n")[0] ?? ""],
    );
  }

  #compare(what: string, watched: WatchedWorld, other: EndState, { chance }: Base): readonly string[] {
    const found = differences(endState(watched), other, chance);
    return found.length === 0 ? [] : [`${what}: ${found.slice(0, linesMax).join("; ")}`];
  }
}

/** Whether all objects of other kinds are as before, and this kind's status too. */
function isSameBut(kind: KindRef, state: EndState, before: EndState, chance: ReadonlySet<string>): boolean {
  const strip = (all: EndState): EndState =>
    new Map(
      [...all].map(([key, objects]) => [
        key,
        key.startsWith(`${kind.kind} `) ? objects.map((object) => ({ ...(object as object), spec: null })) : objects,
      ]),
    );
  return differences(strip(state), strip(before), chance).length === 0;
}

export function specSchemaOf(kind: KindWithSchema): StructuralSchema {
  // The parsing border: `crd()` is what `defineKind` has made.
  const { versions } = (kind.crd() as unknown as CrdBody).spec;
  const schema = versions.find(({ name }) => name === kind.version)?.schema.openAPIV3Schema.properties?.["spec"];
  if (schema === undefined)
    throw new SetpointError("ERR_NO_WORLD", `Cannot explore the spec of ${kind.kind}: its schema has no field "spec"`);
  return schema;
}

interface CrdBody {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: StructuralSchema };
    }[];
  };
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata;
  const { status: _status, ...rest } = object as KubeObject & { readonly status?: unknown };
  const metadata = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
  return { ...rest, metadata };
}

/** The merge patch of the spec that undoes an operation. */
function backTo(base: KubeObject, { path }: SpecOperation): unknown {
  const [, first = ""] = path.split(".");
  const { spec = {} } = base as KubeObject & { readonly spec?: Readonly<Record<string, unknown>> };
  const before = spec[first];
  // A merge patch keeps other fields of an object, so the field is removed first when it is one.
  return { [first]: before ?? null };
}

function specOf(object: KubeObject): unknown {
  return (object as KubeObject & { readonly spec?: unknown }).spec;
}

/** Whether everything in `part` is in `whole`; the server adds defaults. */
function covers(whole: unknown, part: unknown): boolean {
  if (typeof part !== "object" || part === null) return whole === part;
  if (typeof whole !== "object" || whole === null) return false;
  return Object.entries(part).every(([key, value]) => covers((whole as Readonly<Record<string, unknown>>)[key], value));
}
