/** `setpoint why`: asks a running operator for the causes, writes and state of an object, and prints them. */
import { parseArgs } from "node:util";
import { encodeJson, SetpointError } from "@setpoint/apimachinery";
import type { WhyCause, WhyReport, WhyRun } from "setpoint/process";
import { askHere, askPod } from "../why/ask-operator.ts";
import { refuseMore, usageError, type Command } from "../command.ts";

/** Earlier runs that are listed, one line each. */
const earlierMax = 5;

export const why: Command = {
  name: "why",
  usage:
    "why KIND NAME [-n NS] [--cluster NAME] [--controller NAME] [--pod NS/POD | --url URL] [--token TOKEN] [--json]",
  summary:
    "Explain why an operator reconciled an object, what it did and what it waits for. Asks the operator in --pod, or at --url (default: every `setpoint run` on this machine).",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = {
      ...{ namespace: { ...text, short: "n" }, cluster: text, controller: text, url: text, pod: text, token: text },
      ...{ kubeconfig: text, context: text },
      json: { type: "boolean" },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [kind, name, ...more] = positionals[0]?.includes("/")
      ? [...positionals[0].split("/", 2), ...positionals.slice(1)]
      : positionals;
    if (kind === undefined || name === undefined)
      throw new SetpointError(usageError, "Cannot explain an object: expected a kind and a name");
    refuseMore("explain an object", more, 0);
    const { namespace, cluster, controller, pod } = values;
    const query = {
      ...{ kind, name },
      ...(namespace === undefined ? {} : { namespace }),
      ...(cluster === undefined ? {} : { cluster }),
      ...(controller === undefined ? {} : { controller }),
    };
    const reports = await (pod === undefined ? askHere(values.url, query, values.token) : askPod(pod, query, values));
    output.out(values.json === true ? jsonOf(reports) : reports.map((each) => whyText(each, Date.now())).join("\n"));
    return 0;
  },
};

/** A list only when several operators know the object. */
function jsonOf(reports: readonly WhyReport[]): string {
  return `${encodeJson(reports.length === 1 ? reports[0] : reports, 2)}\n`;
}

/** The report in sentences. `nowMs` is the time, in milliseconds since the epoch. */
export function whyText(report: WhyReport, nowMs: number): string {
  const [last, ...earlier] = report.runs;
  const parts = [
    heading(report),
    stateSentence(report, nowMs),
    ...(report.held === undefined ? [] : [`Held: ${report.held}`]),
    ...planLines(report, nowMs),
    ...pendingLines(report, nowMs),
    last === undefined ? forgotten(report) : runText(last, nowMs),
    ...(earlier.length === 0
      ? []
      : [
          `Before that:\n${earlier
            .slice(0, earlierMax)
            .map((run) => `  ${runLine(run, nowMs)}`)
            .join("\n")}`,
        ]),
    ...conditionLines(report, nowMs),
  ];
  return `${parts.join("\n\n")}\n`;
}

function heading({ object, controller, otherControllers, cluster, askedFor, isPresent }: WhyReport): string {
  const where = cluster === undefined ? "" : ` in cluster ${cluster}`;
  const whose = askedFor === undefined ? "" : `\n${askedFor.kind} ${askedFor.name} belongs to it.`;
  const absent = isPresent
    ? ""
    : "\nThe operator has no such object in its cache: it is deleted, or outside of the operator's namespaces or selector.";
  const others =
    otherControllers === undefined
      ? ""
      : `\nOther controllers reconcile it too; use ${otherControllers.map((each) => `--controller ${each}`).join(", ")}.`;
  return `${object.kind} ${nameOf(object)}${where}, reconciled by the controller "${controller}"${others}${whose}${absent}`;
}

function stateSentence({ state, since, until, failures, runs, isPresent }: WhyReport, nowMs: number): string {
  const reason = runs[0]?.reason;
  const tail = reason === undefined ? "" : `: ${reason}`;
  switch (state) {
    case "running":
      return `Reconciling${ago(since, nowMs, " for ")}.`;
    case "settling":
      return `Waiting${ago(since, nowMs, " for ")} until the cache shows the writes of the last run.`;
    case "ready":
      return `Waiting${ago(since, nowMs, " for ")} for a free worker.`;
    case "delayed":
      return failures > 0
        ? `The last ${failures === 1 ? "run" : `${failures} runs in a row`} failed${tail}. Next retry ${inTime(until, nowMs)}.`
        : `Waiting for ${ago(since, nowMs, "")}${tail}. Next run ${inTime(until, nowMs)}, or at the next change.`;
    case "standby":
      return "This process is a standby. Ask the leader.";
    case "elsewhere":
      return "Another shard owns this object. Ask that process.";
    case "idle":
      return runs[0]?.result === "error"
        ? `Failed${tail}. Next run at the next change.`
        : isPresent
          ? "Idle. Next run at the next change."
          : "Nothing to do until the object exists.";
  }
}

function planLines({ plan }: WhyReport, nowMs: number): readonly string[] {
  if (plan?.rule === undefined) return [];
  const { rule, step, reason, since } = plan;
  return [`Plan${ago(since, nowMs, " for ")}: rule "${rule}" says ${step}: ${reason}`];
}

function pendingLines({ pending }: WhyReport, nowMs: number): readonly string[] {
  if (pending.length === 0) return [];
  return [`Since the last run:\n${pending.map((cause) => `  ${causeText(cause, nowMs)}`).join("\n")}`];
}

function forgotten({ rememberedSince }: WhyReport): string {
  return rememberedSince === undefined
    ? "This process has not reconciled anything yet."
    : `Its last run is not in memory: it was before ${rememberedSince}, or in another process.`;
}

function runText(run: WhyRun, nowMs: number): string {
  const took = run.durationMs === undefined ? "still running" : `took ${run.durationMs} ms`;
  const lines = [`Last run ${ago(run.startedAt, nowMs, "")} ago, ${took} (${run.reconcileID}), because`];
  if (run.causes.length === 0) lines.push("  the operator started, or its requeue time was reached");
  for (const cause of run.causes) lines.push(`  ${causeText(cause, nowMs)}`);
  if (run.moreCauses > 0) lines.push(`  and of ${run.moreCauses} more changes`);
  lines.push(...writeLines(run));
  if (run.result === "error") lines.push(`Error: ${run.reason ?? "unknown"}`);
  else if (run.reason !== undefined) lines.push(`Result: ${run.reason}`);
  return lines.join("\n");
}

function writeLines({ writes, moreWrites }: WhyRun): readonly string[] {
  if (writes.length === 0) return ["No writes."];
  const outcomes = { done: "", refused: "refused: ", unknown: "no answer: " };
  const lines = writes.map(({ method, path, outcome, status }) => {
    const code = status === undefined ? "" : ` → ${status}`;
    return `  ${outcomes[outcome]}${method} ${shortPath(path)}${code}`;
  });
  return ["Writes:", ...lines, ...(moreWrites === 0 ? [] : [`  and ${moreWrites} more`])];
}

function runLine({ startedAt, causes, result, reason, writes, moreWrites }: WhyRun, nowMs: number): string {
  const [first] = causes;
  const because = first === undefined ? "at the start or at its requeue time" : causeText(first, nowMs, false);
  const count = writes.length + moreWrites;
  const wrote = count === 0 ? "no write" : count === 1 ? "1 write" : `${count} writes`;
  const end = result === "error" ? `, failed: ${reason ?? ""}` : reason === undefined ? "" : `, ${reason}`;
  return `${ago(startedAt, nowMs, "")} ago: ${because}; ${wrote}${end}`;
}

function causeText(
  { change, kind, namespace, name, at, writer, ownRun }: WhyCause,
  nowMs: number,
  withTime = true,
): string {
  const who =
    ownRun === undefined ? (writer === undefined ? "" : ` by ${writer}`) : ` by this operator, for ${ownRun.object}`;
  const what = change === "enqueued" ? "was requested" : `was ${change}`;
  return `${kind} ${nameOf({ namespace, name })} ${what}${who}${withTime ? `, ${ago(at, nowMs, "")} ago` : ""}`;
}

function conditionLines({ conditions }: WhyReport, nowMs: number): readonly string[] {
  if (conditions.length === 0) return [];
  const lines = conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
    const why = [reason, message].filter((each) => each !== undefined && each !== "").join(": ");
    return `  ${type} is ${status}${ago(lastTransitionTime, nowMs, " for ")}${why === "" ? "" : ` (${why})`}`;
  });
  return [`Conditions:\n${lines.join("\n")}`];
}

function shortPath(path: string): string {
  return path.replace(/^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\//, "").replace(/^namespaces\//, "");
}

function nameOf({ namespace, name }: { readonly namespace?: string | undefined; readonly name: string }): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function ago(time: string | undefined, nowMs: number, before: string): string {
  return time === undefined ? "" : `${before}${durationText(nowMs - Date.parse(time))}`;
}

function inTime(time: string | undefined, nowMs: number): string {
  return time === undefined ? "soon" : `in ${durationText(Date.parse(time) - nowMs)}`;
}

function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}
