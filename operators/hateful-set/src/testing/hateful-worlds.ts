/** What is explored of this operator. Only tests import this. */
import { seconds } from "setpoint";
import { Pod, StatefulSet } from "setpoint/kinds";
import {
  allOracles,
  excuseFaults,
  given,
  type LawOptions,
  patch,
  remove,
  run,
  type StoryInit,
  story,
  unsettled,
} from "setpoint/testing";
import { chaosNames } from "../kind/chaos-names.ts";
import { HatefulSet } from "../kind/hateful-set.ts";
import { chaos, setting, web } from "./hateful-stage.ts";

export const subject = setting;

const onRequest = chaos({ chaosLevel: 0, seed: 1 }, { [chaosNames.strike]: "1" });
const partition = chaos(
  { chaosLevel: 0, seed: 1, targets: [{ type: "Partition", durationSeconds: 10 }] },
  { [chaosNames.strike]: "1" },
);
const again = patch(HatefulSet, "chaos", { metadata: { annotations: { [chaosNames.strike]: "2" } } });

export const worlds: readonly StoryInit[] = [
  story("one act on request", given(web), onRequest),
  story("two acts on request", given(web), onRequest, again),
  story("a HatefulSet is deleted in its act", given(web), unsettled(onRequest), remove(HatefulSet, "chaos")),
  story("a partition ends with its time", given(web), partition),
  story(
    "a HatefulSet is deleted in a partition",
    given(web),
    unsettled(partition),
    unsettled(run(seconds(3))),
    remove(HatefulSet, "chaos"),
  ),
  story("the target is deleted in the act", given(web), unsettled(onRequest), remove(StatefulSet, "web")),
  story(
    "a victim dies by another hand",
    given(web),
    unsettled(onRequest),
    unsettled(run(seconds(1))),
    remove(Pod, "web-1"),
  ),
];

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  // A clock that jumps by an hour in an act makes its target late, and that ends the chaos. An eviction that
  // is refused until another pod of the target has died is not done.
  oracles: excuseFaults(allOracles, { "same end as without faults": ({ kind }) => kind === "D4" || kind === "B6" }),
  // Who is struck, and how long it takes to recover, depends on what else happens.
  mayDiffer: ["HatefulSet.status.acts", "HatefulSet.status.recentActs", "HatefulSet.status.slowestRecoverySeconds"],
};
