/** One set of rules for each way in which an API server may be trying, for the operator under test alone. */
import type { FaultPlan } from "@setpoint/controlplane";
import { parseFaultPlan } from "@setpoint/controlplane";

export interface Knob {
  readonly name: string;
  readonly what: string;
  readonly plan: FaultPlan;
}

const writes = ["create", "update", "patch", "delete"];
const reads = ["list", "watch"];

type Rule = Readonly<Record<string, unknown>> & { readonly match?: Readonly<Record<string, unknown>> };

export function knobs(agent: string): readonly Knob[] {
  const knob = (name: string, what: string, ...rules: readonly Rule[]): Knob => ({
    name,
    what,
    plan: parseFaultPlan({
      seed: 1,
      rules: rules.map((rule, index) => ({
        name: `${name}-${index}`,
        ...rule,
        match: { ...rule.match, userAgents: [agent] },
      })),
    }),
  });
  return [
    knob("none", "no fault"),
    knob("latency", "every request waits up to 200 ms", { fault: "latency", maxMs: 200 }),
    knob("conflict", "40 % of the writes are answered with 409", {
      fault: "conflict",
      percent: 40,
      match: { verbs: writes },
    }),
    knob("tooManyRequests", "30 % of all requests are answered with 429 and Retry-After 1", {
      fault: "tooManyRequests",
      percent: 30,
    }),
    knob("serverError", "30 % of the writes are answered with 500", {
      fault: "serverError",
      percent: 30,
      match: { verbs: writes },
    }),
    knob("unavailable", "30 % of all requests are answered with 503", {
      fault: "serverError",
      status: 503,
      percent: 30,
    }),
    knob("forbidden", "half of the creates are refused as by a quota", {
      fault: "forbidden",
      percent: 50,
      match: { verbs: ["create"] },
    }),
    knob("refused", "the connection breaks before 30 % of the writes are done", {
      fault: "refused",
      percent: 30,
      match: { verbs: writes },
    }),
    knob("lostAnswer", "40 % of the writes are done and their answers lost", {
      fault: "lostAnswer",
      percent: 40,
      match: { verbs: writes },
    }),
    knob("lateApply", "30 % of the writes fail and are done 3 s later all the same", {
      fault: "lateApply",
      afterMs: 3_000,
      percent: 30,
      match: { verbs: writes },
    }),
    knob("cutWatch", "every watch breaks after 0.5 to 2 s", {
      fault: "cutWatch",
      minMs: 500,
      maxMs: 2_000,
      match: { verbs: ["watch"] },
    }),
    knob(
      "gone",
      "every watch breaks after 0.5 to 2 s, and half of those that resume get 410",
      { fault: "cutWatch", minMs: 500, maxMs: 2_000, match: { verbs: ["watch"] } },
      { fault: "gone", percent: 50, match: { verbs: reads } },
    ),
    knob(
      "tooLargeResourceVersion",
      "every watch breaks, and half of the requests for a version get 504, too large",
      { fault: "cutWatch", minMs: 500, maxMs: 2_000, match: { verbs: ["watch"] } },
      { fault: "tooLargeResourceVersion", percent: 50, match: { verbs: reads } },
    ),
    knob("silentWatch", "every watch is silent for 10 s", {
      fault: "silentWatch",
      forMs: 10_000,
      match: { verbs: ["watch"] },
    }),
    knob("laggingView", "everything that is watched or listed is 2 s old", {
      fault: "laggingView",
      lagMs: 2_000,
      match: { verbs: reads },
    }),
    knob("laggingChildren", "what is watched of ConfigMaps is 5 s old, of Widgets it is new", {
      fault: "laggingView",
      lagMs: 5_000,
      match: { verbs: reads, resources: ["configmaps"] },
    }),
    knob(
      "everything",
      "conflicts, lost answers, late writes, 429, 500, cut watches and lag at once, 10 % each",
      { fault: "conflict", percent: 10, match: { verbs: writes } },
      { fault: "lostAnswer", percent: 10, match: { verbs: writes } },
      { fault: "lateApply", afterMs: 2_000, percent: 10, match: { verbs: writes } },
      { fault: "tooManyRequests", percent: 10 },
      { fault: "serverError", percent: 10, match: { verbs: writes } },
      { fault: "cutWatch", minMs: 500, maxMs: 4_000, match: { verbs: ["watch"] } },
      { fault: "laggingView", lagMs: 1_000, percent: 50, match: { verbs: reads } },
    ),
  ];
}
