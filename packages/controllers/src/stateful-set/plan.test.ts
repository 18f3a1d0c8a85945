import { StatefulSet, Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { planStatefulSet, type StatefulStep } from "./plan.ts";
import type { Seen, SeenPod } from "./seen.ts";

type Spec = Partial<NonNullable<StatefulSet["spec"]>>;

interface More {
  readonly currentReplicas?: number;
  /** The ordinal with a claim that is being deleted, or is not there. */
  readonly ending?: number;
  readonly missing?: number;
}

/**
 * A view in short: one character a pod by ordinal. `.` missing, `r` ready on the new template, `o` ready on
 * the old one, `u` unready (new), `w` unready (old), `p` pending, `t` terminating, `f` failed, `a` ready but
 * not yet available.
 */
function seen(replicas: number, pods: string, spec: Spec = {}, more: More = {}): Seen {
  const template = { spec: { containers: [] } };
  const set = {
    ...StatefulSet({ name: "web", spec: { replicas, selector: {}, template, ...spec } }),
    status: { replicas: 0, currentReplicas: more.currentReplicas ?? 0 },
  } as Stored<StatefulSet>;
  return {
    set,
    ordinals: Array.from({ length: replicas }, (_, i) => i),
    pods: Array.from(pods).flatMap((state, ordinal) => (state === "." ? [] : [seenPod(state, ordinal)])),
    claims: { ending: new Set([more.ending ?? -1]), missing: new Set([more.missing ?? -1]) },
    currentRevision: "old",
    updateRevision: "new",
  };
}

function seenPod(state: string, ordinal: number): SeenPod {
  return {
    pod: Pod({ name: `web-${ordinal}`, spec: { containers: [] } }) as Stored<Pod>,
    ordinal,
    revision: "ow".includes(state) ? "old" : "new",
    terminating: state === "t",
    finished: state === "f",
    pending: state === "p",
    ready: "roa".includes(state),
    untilAvailableMs: state === "a" ? 5_000 : 0,
  };
}

function inShort(step: StatefulStep): string {
  if (step.kind === "claim") return `claim ${step.ordinal}`;
  return step.kind === "create" ? `create ${step.ordinal} ${step.revision}` : `delete ${step.pod.ordinal} ${step.why}`;
}

const parallel: Spec = { podManagementPolicy: "Parallel" };
const onDelete: Spec = { updateStrategy: { type: "OnDelete" } };
const partition = (at: number): Spec => ({
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: at } },
});

test.each<[string, Seen, readonly string[]]>([
  ["nothing there yet", seen(3, ""), ["create 0 new"]],
  ["the first is unready", seen(3, "u"), []],
  ["the first is ready, not yet available", seen(3, "a"), []],
  ["the first is ready", seen(3, "r"), ["create 1 new"]],
  ["all ready", seen(3, "rrr"), []],
  ["a hole", seen(3, "r.r"), ["create 1 new"]],
  ["a claim of the next pod is being deleted", seen(3, "r", {}, { ending: 1 }), []],
  ["a pod that has not started lost its claim", seen(3, "rp", {}, { missing: 1 }), ["claim 1"]],
  ["a pod that runs lost its claim", seen(3, "rrr", {}, { missing: 1 }), []],
  ["a failed pod", seen(3, "rfr"), ["delete 1 finished"]],
  ["a terminating pod", seen(3, "rtr"), []],
  ["two too many", seen(1, "rrr"), ["delete 2 superfluous"]],
  ["the superfluous one goes already", seen(1, "rrt"), []],
  ["the superfluous one is unready, and alone so", seen(1, "rru"), ["delete 2 superfluous"]],
  ["the superfluous one is unready, another too", seen(1, "ruu"), []],
  ["the superfluous one waits for an unready wanted one", seen(1, "ur"), []],
  ["scaled to zero", seen(0, "rr"), ["delete 1 superfluous"]],
  ["a new template", seen(3, "ooo"), ["delete 2 outdated"]],
  ["the rollout goes on", seen(3, "oor"), ["delete 1 outdated"]],
  ["the rollout waits for an unready pod", seen(3, "oou"), []],
  ["a partition holds the lower pods back", seen(3, "oor", partition(2)), []],
  ["a pod below the partition comes back old", seen(3, ".or", partition(2)), ["create 0 old"]],
  [
    "a pod of a rollout that has not come yet comes back old",
    seen(3, "o.r", {}, { currentReplicas: 2 }),
    ["create 1 old"],
  ],
  ["a broken old pod stops an ordered rollout", seen(3, "wrr"), []],
  ["OnDelete never deletes", seen(3, "ooo", onDelete), []],
  ["parallel: all at once", seen(3, "", parallel), ["create 0 new", "create 1 new", "create 2 new"]],
  [
    "parallel: grow and shrink together",
    seen(2, ".rrr", parallel),
    ["create 0 new", "delete 3 superfluous", "delete 2 superfluous"],
  ],
  ["parallel: a claim is being deleted", seen(2, "", parallel, { ending: 0 }), ["create 1 new"]],
  ["parallel: the update keeps its order", seen(3, "ooo", parallel), ["delete 2 outdated"]],
])("%s", (_, view, steps) => {
  expect(planStatefulSet(view).steps.map(inShort)).toEqual(steps);
});

test("a pod that only needs time is checked when the time has passed", () => {
  expect(planStatefulSet(seen(2, "ra")).recheckMs).toBe(5_000);
});
