/** Runs an operator whose writes are pretended, until it has nothing more to do. */
import { CustomResourceDefinition } from "@setpoint/api";
import { SetpointError, type Transport } from "@setpoint/apimachinery";
import { createClient, overlayTransport, type PretendedObject, type PretendedWrite } from "@setpoint/client";
import { sleep, type Host } from "@setpoint/host";
import type { Operator } from "setpoint";
import { runOperator } from "setpoint/process";
import { WriteAttribution, type RunNote } from "./attribute-writes.ts";
import { applyGiven, prepareGiven, type GivenObject } from "./given-objects.ts";
import { PlanRest } from "./plan-rest.ts";
import { watchLog, type LoggedError } from "./watch-log.ts";

export interface PlanOptions {
  readonly operator: Operator;
  readonly transport: Transport;
  readonly host: Host;
  readonly namespaces?: readonly string[];
  /** What a user is about to apply. */
  readonly given?: readonly GivenObject[];
  /** Of given objects that name none; default: `default`. */
  readonly namespace?: string;
  /** The operator must be at rest in this time. */
  readonly limitMs: number;
  /** For how long nothing has changed then. */
  readonly quietMs?: number;
}

/** A write and the run that makes it. */
export interface ExplainedWrite extends PretendedWrite {
  readonly note: RunNote | undefined;
  /** The user's file that asks for it. */
  readonly file?: string;
  /** It also sets `spec.dryRun`, so that the operator lists the steps of the change. */
  readonly isPlanned?: boolean;
}

export interface Plan {
  readonly writes: readonly ExplainedWrite[];
  /** Objects that would be different, in the order in which they were first written. */
  readonly objects: readonly PretendedObject[];
  readonly errors: readonly LoggedError[];
  /** Changes outside of the API, before which runs ended. */
  readonly outside: readonly OutsideChange[];
  /** What did not answer to this process, such as pods. */
  readonly unreached: readonly Unreached[];
  /** False: it was still at work when the time was over. */
  readonly isComplete: boolean;
}

/** A change of something outside of the API, such as a user of a database. */
export interface OutsideChange {
  readonly what: string;
  readonly note: RunNote | undefined;
}

/** Something outside of the API on which a run depends. */
export interface Unreached {
  readonly what: string;
  /** What the run used in its place; undefined: the run ended there. */
  readonly instead: string | undefined;
  readonly note: RunNote | undefined;
}

const quietMsDefault = 700;
const lookMs = 25;

/** Errors: `ERR_PLAN_NOT_READY` when the caches cannot be filled, or could not be in the time given. */
export async function runPlan({ operator, transport, host, ...options }: PlanOptions): Promise<Plan> {
  const writes: ExplainedWrite[] = [];
  const rest = new PlanRest(host.clock, options.quietMs ?? quietMsDefault);
  const attribution = new WriteAttribution(operator, ({ controller, key }) => rest.began(controller, key));
  let given: Pick<ExplainedWrite, "file" | "isPlanned"> = {};
  const overlay = overlayTransport(rest.transport(transport), {
    ...host,
    onWrite: (write) => {
      rest.wrote(write);
      writes.push({ ...write, ...given, note: attribution.noteFor(write.place) });
    },
  });
  await pretendKinds(operator, overlay, host);
  const pretending = { operator, client: createClient(overlay, host), namespace: options.namespace ?? "default" };
  for (const each of options.given ?? []) {
    const prepared = await prepareGiven(each, pretending);
    given = { file: each.file, isPlanned: prepared.isPlanned };
    await applyGiven(prepared, pretending.client);
  }
  given = {};
  const outside: OutsideChange[] = [];
  const unreached: Unreached[] = [];
  const unfillable = Promise.withResolvers<never>();
  const { log, errors } = watchLog(host.log, ({ fields: { problem } }) => {
    // It does not pass by itself: to wait would not help.
    if (typeof problem === "string")
      unfillable.reject(new SetpointError("ERR_PLAN_NOT_READY", `Cannot plan: ${problem}`));
  });
  unfillable.promise.catch(() => {});
  const manager = runOperator(attribution.operator, {
    transport: overlay,
    host: { ...host, log },
    dryRun: {
      changesOutside: (what) => void outside.push({ what, note: attribution.running() }),
      cannotReach: (what, instead) => void unreached.push({ what, instead, note: attribution.running() }),
    },
    ...(options.namespaces === undefined ? {} : { namespaces: options.namespaces }),
  });
  try {
    const deadlineMs = host.clock.monotonic() + options.limitMs;
    await ready(Promise.race([manager.ready, unfillable.promise]), options.limitMs, host);
    rest.follow(manager);
    while (!rest.isReached() && host.clock.monotonic() < deadlineMs) await sleep(host.clock, lookMs);
    return { writes, objects: overlay.changed, errors, outside, unreached, isComplete: rest.isReached() };
  } finally {
    await manager.stop();
  }
}

/** The definitions that this version brings; they are part of what it would change. */
async function pretendKinds(operator: Operator, transport: Transport, host: Host): Promise<void> {
  const client = createClient(transport, host);
  for (const crd of operator.crds()) {
    await client.apply(CustomResourceDefinition, crd, { fieldManager: operator.name, force: true });
  }
}

async function ready(isReady: Promise<void>, limitMs: number, { clock }: Host): Promise<void> {
  const limit = new AbortController();
  const late = sleep(clock, limitMs, limit.signal).then(() => {
    const message = `Cannot plan: the operator's caches were not complete after ${limitMs / 1000} s; set a longer --timeout`;
    throw new SetpointError("ERR_PLAN_NOT_READY", message);
  });
  late.catch(() => {});
  await Promise.race([isReady, late]).finally(() => limit.abort());
}
