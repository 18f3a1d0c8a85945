/** Clients of an instance, as pods of the operator's image: each writes or reads a range of keys. */
import { Pod } from "setpoint/kinds";
import type { ProbeOutcome, ProbeRequest } from "../agent/request.ts";
import { probePod } from "../transfer/transfer-pod.ts";
import { podReason, transferResult } from "../transfer/transfer-result.ts";
import { type CheckContext, type CheckStep, done, failed, type StepReport, waiting } from "./check.ts";
import { instanceNamed } from "./instances.ts";
import { nameOf, namespaceOf, read } from "./objects.ts";

/** What a client does, and to which instance. */
export interface Probe {
  /** Part of the name of its pod. */
  readonly name: string;
  readonly task: "write" | "read";
  /** Part of the keys, so that checks do not touch each other's. */
  readonly keys: string;
  readonly count: number;
  readonly pauseMs?: number;
  /** Part of the name of the instance, when it is not the one that all checks share. */
  readonly instance?: string;
  /** The name of a note with the name of a Secret, whose login replaces the operator's own. */
  readonly loginNote?: string;
}

/** Keys that later checks read again. */
export const firstKeys = { keys: "first", count: 20 } as const;

const noImage =
  "no client can be started: the operator does not know its own image; set its environment variable SETPOINT_OPERATOR_IMAGE";

/** Runs a client from its start to its end. */
export function completeProbe(probe: Probe): readonly CheckStep[] {
  return [startProbe(probe), finishProbe(probe)];
}

/** Creates the client's pod, and waits until it runs. */
export function startProbe(probe: Probe): CheckStep {
  return async (context) => {
    if ((context.image ?? "") === "") return failed(noImage);
    const name = nameOf(context, probe.name);
    const pod = await read(context, Pod, name);
    if (pod === undefined) await context.api.create(await podFor(context, probe, name));
    else if (pod.status?.phase === "Running" || transferResult(pod) !== undefined) return done;
    return waiting(`pod "${name}" does not run yet${pod === undefined ? "" : podReason(pod)}`);
  };
}

/** Waits for the end of the client. All keys must have been acknowledged, or have their values. */
export function finishProbe(probe: Probe): CheckStep {
  return async (context) => {
    const name = nameOf(context, probe.name);
    const pod = await read(context, Pod, name);
    if (pod === undefined) return failed(`pod "${name}" was deleted before it reported a result`);
    const result = transferResult(pod);
    if (result === undefined) return waiting(`a client ${probe.task}s ${probe.count} keys${podReason(pod)}`);
    if (result.outcome === "failed")
      return failed(`a client cannot ${probe.task} keys: ${result.reason}: ${result.message}`);
    return judged(context, probe, result.probe);
  };
}

function judged(context: CheckContext, { task, count }: Probe, outcome: ProbeOutcome | undefined): StepReport {
  if (outcome === undefined) return failed("the client reported no outcome: its image is of another version");
  const { entries, wrong = [], longestGapMs } = outcome;
  if (longestGapMs !== undefined) context.note("longestGapMs", String(longestGapMs));
  if (entries === count) return done;
  if (task === "write") return failed(`${count - entries} of ${count} writes were not acknowledged`);
  return failed(`${count - entries} of ${count} acknowledged writes are lost, such as ${wrong.join(", ")}`);
}

async function podFor(context: CheckContext, probe: Probe, name: string): Promise<Pod> {
  const { acceptance, image = "", run, notes } = context;
  const instance = await instanceNamed(context, probe.instance);
  const { request: source, secretNames = [] } = acceptance.clients?.(instance) ?? acceptance.engine.source(instance);
  const { keys, count, pauseMs = 0 } = probe;
  const about = { engine: acceptance.engine.name, source, prefix: `setpoint-acceptance/${keys}/`, count };
  const request: ProbeRequest =
    probe.task === "read" ? { task: "read", ...about } : { task: "write", ...about, pauseMs };
  const login = probe.loginNote === undefined ? undefined : notes[probe.loginNote];
  return probePod({
    ...{ name, namespace: namespaceOf(context), owner: "acceptancerun", request, image },
    deadlineSeconds: run.spec.checkTimeoutSeconds,
    sourceSecrets: login === undefined ? secretNames : [login],
  });
}
