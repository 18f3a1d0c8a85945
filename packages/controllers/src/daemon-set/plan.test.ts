import { DaemonSet, Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { expect, test } from "vitest";
import { planDaemonSet, type DaemonStep } from "./plan.ts";
import type { Seen, SeenNode, SeenPod } from "./seen.ts";

type Strategy = NonNullable<DaemonSet["spec"]["updateStrategy"]>;

/**
 * A view in short: one word a node, one character a pod of it, oldest first. `r` ready on the new template,
 * `o` ready on the old one, `u` unready (new), `w` unready (old), `a` ready but not yet available (new), `t`
 * terminating,
 * `f` failed, `b` failed and in back-off, `s` succeeded. `-` before them: the node should have no pod but may
 * keep one; `!`: it may not keep one; `.`: no pod.
 */
function seen(nodes: string, updateStrategy: Strategy = {}): Seen {
  const set = DaemonSet({
    name: "agent",
    spec: { selector: {}, template: { spec: { containers: [] } }, updateStrategy },
  }) as Stored<DaemonSet>;
  return { set, nodes: nodes.split(" ").map(seenNode), strays: [] };
}

function seenNode(word: string, i: number): SeenNode {
  const pods = Array.from(word.replace(/[-!.]/g, "")).map((state, at) => seenPod(state, `${i}${at}`));
  return { name: `n${i}`, shouldRun: !/[-!]/.test(word), mayStay: !word.startsWith("!"), pods };
}

function seenPod(state: string, name: string): SeenPod {
  const ready = "roa".includes(state);
  return {
    pod: Pod({ name, spec: { containers: [] } }) as Stored<Pod>,
    updated: !"ow".includes(state),
    terminating: state === "t",
    failed: "fb".includes(state),
    succeeded: state === "s",
    untilRetryMs: state === "b" ? 2_000 : 0,
    ready,
    untilAvailableMs: state === "a" ? 5_000 : ready ? 0 : undefined,
  };
}

const inShort = (step: DaemonStep): string =>
  step.kind === "create" ? `create ${step.node}` : `delete ${step.pod.pod.metadata.name} ${step.why}`;

const onDelete: Strategy = { type: "OnDelete" };
const rolling = (maxUnavailable: number | string, maxSurge: number | string = 0): Strategy => ({
  type: "RollingUpdate",
  rollingUpdate: { maxUnavailable, maxSurge },
});
const surging = (maxSurge: number | string): Strategy => rolling(0, maxSurge);

test.each<[string, Seen, readonly string[]]>([
  ["nothing there yet", seen(". ."), ["create n0", "create n1"]],
  ["a node that is not selected", seen(". !."), ["create n0"]],
  ["a node with a taint that keeps new pods away", seen("r -."), []],
  ["a pod stays on such a node", seen("-r"), []],
  ["a pod on a node that is selected no longer", seen("!r"), ["delete 00 misplaced"]],
  ["that pod goes already", seen("!t"), []],
  ["a terminating pod is not replaced before it is gone", seen("t"), []],
  ["a failed pod", seen("f r"), ["delete 00 failed"]],
  ["a failed pod that is in back-off", seen("b r"), []],
  ["a succeeded pod", seen("s"), ["delete 00 succeeded"]],
  ["two pods on a node", seen("rr r"), ["delete 01 surplus"]],
  ["all new and ready", seen("r r r"), []],
  ["a new template", seen("o o o", rolling(1)), ["delete 00 outdated"]],
  ["a new template, two may be unavailable", seen("o o o", rolling(2)), ["delete 00 outdated", "delete 10 outdated"]],
  [
    "a new template, a third of four, rounded up",
    seen("o o o o", rolling("30%")),
    ["delete 00 outdated", "delete 10 outdated"],
  ],
  ["the rollout waits for an unready pod", seen("u o o", rolling(1)), []],
  ["the rollout waits for a pod that is not yet available", seen("a o o", rolling(1)), []],
  ["the rollout goes on", seen("r o o", rolling(1)), ["delete 10 outdated"]],
  ["broken old pods go at once", seen("w w o", rolling(1)), ["delete 00 outdated", "delete 10 outdated"]],
  ["missing pods come before the rollout", seen(". o", rolling(1)), ["create n0"]],
  ["OnDelete never deletes", seen("o o", onDelete), []],
  ["a surge creates beside the old pod", seen("o o", surging(1)), ["create n0"]],
  ["a surge waits for the new pod", seen("ou o", surging(1)), []],
  ["a surge goes on when the new pod is available", seen("or o", surging(1)), ["delete 00 surplus"]],
  ["after the surge", seen("r o", surging(1)), ["create n1"]],
  ["a surge replaces broken old pods at once", seen("w w", surging(1)), ["create n0", "create n1"]],
  ["a surge does not keep a broken old pod", seen("wu o", surging(1)), ["delete 00 surplus"]],
])("%s", (_, view, steps) => {
  expect(planDaemonSet(view).steps.map(inShort)).toEqual(steps);
});

test("a pod that only needs time is checked when the time has passed", () => {
  expect(planDaemonSet(seen("a b")).recheckMs).toBe(2_000);
});

test("a pod that waits for a node that is gone is deleted", () => {
  const view = { ...seen("r"), strays: [seenPod("u", "lost")] };
  expect(planDaemonSet(view).steps.map(inShort)).toEqual(["delete lost misplaced"]);
});
