/**
 * A controller whose children come from a program's standard output: a chart, an overlay, a script in any
 * language.
 */
import {
  decodeJson,
  encodeJson,
  apiVersionOf,
  isSetpointError,
  SetpointError,
  type KubeObject,
  messageOf,
} from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import {
  awaitChange,
  controller,
  requeueAfter,
  type ChildUpdate,
  type ControllerDefinition,
  type ControllerOptions,
  type Finalized,
  type KindsByName,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { onWire, parseSyncResponse, type SyncRequest } from "../hook/hook-contract.ts";
import { AnswerMemory, type Answered } from "./answer-memory.ts";
import {
  childrenCondition,
  engineHealth,
  notRenderedCondition,
  refusedCondition,
  renderedCondition,
} from "./engine-conditions.ts";
import { commandFor, completeRun, type EngineRun, type EngineRunInit } from "./engine-run.ts";
import { parseManifests } from "./parse-manifests.ts";
import { errProgramInput, errProgramOutput, programError, shown, type ProgramEnd, type Programs } from "./programs.ts";

/** A controller that runs a program to compute the children of each object. */
export interface EngineControllerOptions extends Omit<ControllerOptions<KubeObject>, "cleanup" | "health"> {
  /** Its status has conditions: that is where an engine says how things are. */
  readonly kind: KindRef;
  /** The kinds of which the program may want objects. */
  readonly children: readonly KindRef[];
  readonly run: EngineRunInit;
  readonly programs: Programs;
  /** What becomes of a child that differs from what the program wants; default: changed in place. */
  update?(this: void, child: KubeObject): ChildUpdate;
}

/** Questions and answers that a controller keeps, in characters; beyond it programs are asked again. */
const memoryCharactersMax = 64 * 1_024 * 1_024;
/**
 * How soon a run repeats that found its object changed on the server, where the cache did not show it yet.
 */
const staleRetryMs = 100;
/** Of what a program said to its standard error, the end. */
const stderrLengthMax = 800;

/**
 * Guarantees: the program is not run again for the same command, input and files; what it wants is owned,
 * applied and pruned as by any controller; nothing is deleted when it fails. Assumptions: it changes nothing
 * by itself. Errors: what a program does wrong is in the condition `Rendered` and is tried again after 2 s to
 * 5 min.
 */
export function engineController(options: EngineControllerOptions): ControllerDefinition {
  const { kind, children, run: init, programs, update, ...rest } = options;
  const engine: Engine = {
    name: rest.name ?? kind.kind.toLowerCase(),
    run: completeRun(init),
    programs,
    owns: byName(children),
  };
  // A second world has its own clock, and so has a restarted process.
  const memories = new WeakMap<Clock, AnswerMemory<Finalized>>();
  return controller<KubeObject>(kind, {
    ...rest,
    owns: children,
    health: engineHealth,
    async reconcile(object, context) {
      const memory = memories.get(context.host.clock) ?? newMemory(context.host.clock);
      memories.set(context.host.clock, memory);
      const answer = await wanted(engine, object, context, memory);
      return answer === undefined ? awaitChange() : enact(engine, answer, context, update);
    },
  });
}

interface Engine {
  readonly name: string;
  readonly run: EngineRun;
  readonly programs: Programs;
  readonly owns: KindsByName;
}

function newMemory(clock: Clock): AnswerMemory<Finalized> {
  return new AnswerMemory({ clock, charactersMax: memoryCharactersMax });
}

/** Undefined: the program cannot be asked about this object as it is. */
async function wanted(
  engine: Engine,
  object: Stored<KubeObject>,
  context: ReconcileContext,
  memory: AnswerMemory<Finalized>,
): Promise<Finalized | undefined> {
  try {
    const command = commandFor(engine.run.command, object);
    const input = inputFor(engine, object, context);
    const files = await engine.programs.fingerprint(engine.run.files);
    const question = `${JSON.stringify(command)}\n${files}\n${input}`;
    const { signal } = context;
    return await memory.get(object.metadata.uid, question, signal, () => ask(engine, command, input, signal));
  } catch (error) {
    // The manager stops: that says nothing about the object.
    if (!context.signal.aborted)
      context.condition(notRenderedCondition(causeOf(error)), childrenCondition(ownedBy(engine, context)));
    // Its user has to change it: trying again is of no use.
    if (isSetpointError(error, errProgramInput)) return undefined;
    throw error;
  }
}

async function ask(
  { run, owns, programs }: Engine,
  command: readonly string[],
  input: string,
  signal: AbortSignal,
): Promise<Answered<Finalized>> {
  const { environment, timeoutMs, outputBytesMax } = run;
  const end = await programs.run({ command, input, environment, timeoutMs, outputBytesMax }, signal);
  if (end.code !== 0) throw programError(command, `it ended with code ${end.code}${saying(end)}`);
  const answer = parseAnswer(run, command, end.stdout);
  refuseUndeclared(answer.children, Object.values(owns), command);
  const validMs = answer.resyncAfterMs;
  return { answer, length: end.stdout.length, ...(validMs === undefined ? {} : { validMs }) };
}

function parseAnswer({ output }: EngineRun, command: readonly string[], text: string): Finalized {
  const name = `the program ${shown(command)}`;
  let value: unknown;
  try {
    value = output === "response" ? decodeJson(text) : { children: parseManifests(text) };
  } catch (cause) {
    const wanted = output === "response" ? "JSON" : "YAML or JSON";
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    throw outputError(`Cannot use the output of ${name}: it is no ${wanted}${why}`, cause);
  }
  try {
    return parseSyncResponse(name, value);
  } catch (cause) {
    throw outputError(messageOf(cause), cause);
  }
}

/** A kind that is not declared is not watched, and the account has no right to it. */
function refuseUndeclared(
  children: readonly KubeObject[],
  kinds: readonly KindRef[],
  command: readonly string[],
): void {
  const found = children.find(
    (child) => !kinds.some((each) => each.kind === child.kind && apiVersionOf(each) === child.apiVersion),
  );
  if (found === undefined) return;
  const what = `it wants a ${found.kind} of ${found.apiVersion}, which is not among the kinds of children`;
  throw outputError(`Cannot use the output of the program ${shown(command)}: ${what}`);
}

async function enact(
  engine: Engine,
  answer: Finalized,
  context: ReconcileContext,
  update: EngineControllerOptions["update"],
): Promise<Result> {
  context.condition(renderedCondition(answer.children.length));
  const pruned = await context.children
    .apply(answer.children, update === undefined ? {} : { update })
    .catch((error: unknown) => {
      if (!context.signal.aborted) context.condition(refusedCondition(error));
      throw error;
    });
  context.condition(childrenCondition(ownedBy(engine, context)));
  if (answer.status !== undefined) await context.status(answer.status);
  if (pruned.kind === "postponed") return requeueAfter(staleRetryMs, pruned.reason);
  if (answer.resyncAfterMs === undefined) return awaitChange();
  return requeueAfter(answer.resyncAfterMs, "the program asked for it");
}

function inputFor({ name, run, owns }: Engine, object: Stored<KubeObject>, context: ReconcileContext): string {
  const { status: _, ...rest } = object as Stored<KubeObject> & { readonly status?: unknown; readonly spec?: object };
  if (run.input === "spec") return encodeJson(rest.spec ?? {});
  if (run.input === "object") {
    const { resourceVersion: _version, managedFields: _managed, ...metadata } = rest.metadata;
    return encodeJson({ ...rest, metadata });
  }
  const children = Object.fromEntries(Object.entries(owns).map(([key, kind]) => [key, context.children.list(kind)]));
  const request: SyncRequest = {
    controller: { metadata: { name } },
    parent: object,
    children: onWire(owns, children, object),
    related: {},
    finalizing: false,
  };
  return encodeJson(request);
}

function ownedBy({ owns }: Engine, { children }: ReconcileContext): readonly Stored<KubeObject>[] {
  return Object.values(owns).flatMap((kind) => children.list(kind));
}

function byName(kinds: readonly KindRef[]): KindsByName {
  return Object.fromEntries(kinds.map((kind) => [`${kind.kind}.${kind.group}`, kind]));
}

function saying({ stderr }: ProgramEnd): string {
  // In one line, because it becomes part of a sentence.
  const text = stderr.trim().replaceAll(/\s*\n\s*/g, "; ");
  if (text === "") return ", and said nothing";
  return `: ${text.length > stderrLengthMax ? `…${text.slice(-stderrLengthMax)}` : text}`;
}

function causeOf(error: unknown): unknown {
  return error instanceof SetpointError && error.cause instanceof SetpointError ? error.cause : error;
}

function outputError(message: string, cause?: unknown): SetpointError {
  return new SetpointError(errProgramOutput, message, { cause });
}
