/** `setpoint why`: asks a running operator why it did what it did to an object, and says it in sentences. */
import { parseArgs } from "node:util";
import { SetpointError } from "@setpoint/apimachinery";
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
    "Say why an operator reconciled an object, what it did and what it waits for. The operator is asked in its --pod, or at --url (default: every `setpoint run` on this machine).",
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
  return `${JSON.stringify(reports.length === 1 ? reports[0] : reports, undefined, 2)}\n`;
}

/** The report in sentences. `nowMs` is the time, in milliseconds since the epoch. */
export function whyText(report: WhyReport, nowMs: number): string {
  const [last, ...earlier] = report.runs;
  const parts = [
    heading(report),
    stateSentence(report, nowMs),
    ...(report.held === undefined ? [] : [`It is held back: ${report.held}`]),
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
    : "\nThe operator sees no such object: it is gone, or outside of its namespaces or selector.";
  const others =
    otherControllers === undefined
      ? ""
      : `\nIt is reconciled by others too: ask with ${otherControllers.map((each) => `--controller ${each}`).join(", ")}.`;
  return `${object.kind} ${nameOf(object)}${where}, reconciled by the controller "${controller}"${others}${whose}${absent}`;
}

function stateSentence({ state, since, until, failures, runs, isPresent }: WhyReport, nowMs: number): string {
  const reason = runs[0]?.reason;
  const tail = reason === undefined ? "" : `: ${reason}`;
  switch (state) {
    case "running":
      return `It is being reconciled${ago(since, nowMs, ", for ")}.`;
    case "settling":
      return `Its run has ended; it waits until the cache shows what it has written${ago(since, nowMs, ", for ")}.`;
    case "ready":
      return `It waits for a free worker${ago(since, nowMs, ", for ")}.`;
    case "delayed":
      return failures > 0
        ? `The last ${failures === 1 ? "run" : `${failures} runs in a row`} failed${tail}. It is tried again ${inTime(until, nowMs)}.`
        : `It waits since ${ago(since, nowMs, "")} ago${tail}. It runs again ${inTime(until, nowMs)}, or when something changes.`;
    case "standby":
      return "This process stands by: another one leads and knows more.";
    case "elsewhere":
      return "Another member of the group owns this object: ask that one.";
    case "idle":
      return runs[0]?.result === "error"
        ? `It failed${tail}. Only a change will wake it.`
        : isPresent
          ? "It is at rest: only a change will wake it."
          : "Nothing is to be done: it is reconciled as soon as it is there.";
  }
}

function pendingLines({ pending }: WhyReport, nowMs: number): readonly string[] {
  if (pending.length === 0) return [];
  return [`Since the last run:\n${pending.map((cause) => `  ${causeText(cause, nowMs)}`).join("\n")}`];
}

function forgotten({ rememberedSince }: WhyReport): string {
  return rememberedSince === undefined
    ? "Nothing has been reconciled by this process yet."
    : `Its last run is not remembered: it was before ${rememberedSince}, or in another process.`;
}

function runText(run: WhyRun, nowMs: number): string {
  const took = run.durationMs === undefined ? "and has not ended" : `and took ${run.durationMs} ms`;
  const lines = [`It ran ${ago(run.startedAt, nowMs, "")} ago ${took} (${run.reconcileID}), because`];
  if (run.causes.length === 0) lines.push("  it was there when the operator began, or its time had come");
  for (const cause of run.causes) lines.push(`  ${causeText(cause, nowMs)}`);
  if (run.moreCauses > 0) lines.push(`  and of ${run.moreCauses} more changes`);
  lines.push(...writeLines(run));
  if (run.result === "error") lines.push(`It ended with an error: ${run.reason ?? "unknown"}`);
  else if (run.reason !== undefined) lines.push(`It said: ${run.reason}`);
  return lines.join("\n");
}

function writeLines({ writes, moreWrites }: WhyRun): readonly string[] {
  if (writes.length === 0) return ["It wrote nothing."];
  const outcomes = { done: "", refused: "refused: ", unknown: "no answer: " };
  const lines = writes.map(({ method, path, outcome, status }) => {
    const code = status === undefined ? "" : ` → ${status}`;
    return `  ${outcomes[outcome]}${method} ${shortPath(path)}${code}`;
  });
  return ["It wrote", ...lines, ...(moreWrites === 0 ? [] : [`  and ${moreWrites} more`])];
}

function runLine({ startedAt, causes, result, reason, writes, moreWrites }: WhyRun, nowMs: number): string {
  const [first] = causes;
  const because = first === undefined ? "at the start or by time" : causeText(first, nowMs, false);
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
    ownRun === undefined
      ? writer === undefined
        ? ""
        : ` by ${writer}`
      : ` by this operator itself, for ${ownRun.object}`;
  const what = change === "enqueued" ? "was asked for" : `was ${change}`;
  return `${kind} ${nameOf({ namespace, name })} ${what}${who}${withTime ? `, ${ago(at, nowMs, "")} ago` : ""}`;
}

function conditionLines({ conditions }: WhyReport, nowMs: number): readonly string[] {
  if (conditions.length === 0) return [];
  const lines = conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
    const why = [reason, message].filter((each) => each !== undefined && each !== "").join(": ");
    return `  ${type} is ${status}${ago(lastTransitionTime, nowMs, " for ")}${why === "" ? "" : ` (${why})`}`;
  });
  return [`Its conditions:\n${lines.join("\n")}`];
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
