/** A pod's status in one word, as kubectl prints it, and the rest of its row. */
import { formatAge, type UnstructuredObject } from "@setpoint/apimachinery";
import { type JsonObject, objectsAt, stringAt, valueAt } from "../json-fields.ts";
import type { TableColumn } from "../../response/table-column.ts";
import { ageColumn, none, numeric, pathColumn, textColumn, wide } from "./column-kinds.ts";

interface PodSummary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
}

/** Computes three cells in one pass: which containers are ready, why not, and how often they restarted. */
export function summarizePod(pod: UnstructuredObject, now: number): PodSummary {
  const inits = initSummary(pod);
  const mains = objectsAt(pod, "status", "containerStatuses");
  const sidecars = restartableInits(pod);
  const total = objectsAt(pod, "spec", "containers").length + sidecars.size;
  const isReady = (status: JsonObject): boolean =>
    status["ready"] === true && valueAt(status, "state", "running") !== undefined;
  const readySidecars = objectsAt(pod, "status", "initContainerStatuses").filter(
    (status) => sidecars.has(stringAt(status, "name")) && isReady(status),
  ).length;
  const ready = mains.filter(isReady).length + readySidecars;
  const counted =
    inits.text === undefined
      ? [
          ...mains,
          ...objectsAt(pod, "status", "initContainerStatuses").filter((status) =>
            sidecars.has(stringAt(status, "name")),
          ),
        ]
      : objectsAt(pod, "status", "initContainerStatuses");
  return {
    ready: `${ready}/${total}`,
    status: deletionText(pod, inits.text ?? mainText(pod, mains)),
    restarts: restartText(counted, now),
  };
}

function restartableInits(pod: UnstructuredObject): ReadonlySet<string> {
  return new Set(
    objectsAt(pod, "spec", "initContainers")
      .filter((each) => each["restartPolicy"] === "Always")
      .map((each) => stringAt(each, "name")),
  );
}

/** The first init container that is not through decides; undefined when all are. */
function initSummary(pod: UnstructuredObject): { readonly text?: string } {
  const statuses = objectsAt(pod, "status", "initContainerStatuses");
  const total = objectsAt(pod, "spec", "initContainers").length;
  const sidecars = restartableInits(pod);
  for (const [index, status] of statuses.entries()) {
    const terminated = valueAt(status, "state", "terminated");
    if (terminated !== undefined && numeric(valueAt(terminated, "exitCode")) === 0) continue;
    if (sidecars.has(stringAt(status, "name")) && status["started"] === true) continue;
    if (terminated !== undefined) return { text: `Init:${terminatedText(terminated)}` };
    const reason = stringAt(status, "state", "waiting", "reason");
    if (reason !== "" && reason !== "PodInitializing") return { text: `Init:${reason}` };
    return { text: `Init:${index}/${total}` };
  }
  return {};
}

function terminatedText(terminated: unknown): string {
  const reason = stringAt(terminated, "reason");
  if (reason !== "") return reason;
  const signal = numeric(valueAt(terminated, "signal"));
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${numeric(valueAt(terminated, "exitCode"))}`;
}

function mainText(pod: UnstructuredObject, statuses: readonly JsonObject[]): string {
  let text = stringAt(pod, "status", "reason") || stringAt(pod, "status", "phase");
  const gated = objectsAt(pod, "status", "conditions").some(
    (each) => each["type"] === "PodScheduled" && each["reason"] === "SchedulingGated",
  );
  if (gated) text = "SchedulingGated";
  let hasRunning = false;
  // From the last to the first, so that the first container with a reason wins.
  for (const status of statuses.toReversed()) {
    const waiting = stringAt(status, "state", "waiting", "reason");
    const terminated = valueAt(status, "state", "terminated");
    if (waiting !== "") text = waiting;
    else if (terminated !== undefined) text = terminatedText(terminated);
    else if (status["ready"] === true && valueAt(status, "state", "running") !== undefined) hasRunning = true;
  }
  if (text !== "Completed" || !hasRunning) return text;
  const isReady = objectsAt(pod, "status", "conditions").some(
    (each) => each["type"] === "Ready" && each["status"] === "True",
  );
  return isReady ? "Running" : "NotReady";
}

function deletionText(pod: UnstructuredObject, text: string): string {
  if (pod.metadata.deletionTimestamp === undefined) return text;
  if (stringAt(pod, "status", "reason") === "NodeLost") return "Unknown";
  const phase = stringAt(pod, "status", "phase");
  return phase === "Failed" || phase === "Succeeded" ? text : "Terminating";
}

function restartText(statuses: readonly JsonObject[], now: number): string {
  const restarts = statuses.reduce((sum, status) => sum + numeric(status["restartCount"]), 0);
  const times = statuses
    .map((status) => stringAt(status, "lastState", "terminated", "finishedAt"))
    .filter((time) => time !== "");
  const last = times.toSorted().at(-1);
  return restarts > 0 && last !== undefined ? `${restarts} (${formatAge(last, now)} ago)` : String(restarts);
}

function podIp(pod: UnstructuredObject): string {
  return stringAt(objectsAt(pod, "status", "podIPs")[0], "ip") || stringAt(pod, "status", "podIP") || none;
}

function readinessGates(pod: UnstructuredObject): string {
  const gates = objectsAt(pod, "spec", "readinessGates");
  if (gates.length === 0) return none;
  const holds = (gate: JsonObject): boolean =>
    objectsAt(pod, "status", "conditions").some(
      (each) => each["type"] === gate["conditionType"] && each["status"] === "True",
    );
  return `${gates.filter(holds).length}/${gates.length}`;
}

export const podColumns: readonly TableColumn[] = [
  textColumn("Ready", (pod, now) => summarizePod(pod, now).ready),
  textColumn("Status", (pod, now) => summarizePod(pod, now).status),
  textColumn("Restarts", (pod, now) => summarizePod(pod, now).restarts),
  ageColumn,
  textColumn("IP", podIp, wide),
  pathColumn("Node", "spec.nodeName", none, wide),
  pathColumn("Nominated Node", "status.nominatedNodeName", none, wide),
  textColumn("Readiness Gates", readinessGates, wide),
];
