/** Labels of kube-monkey on a workload become a HatefulSet. */
import { chaosNames } from "../kind/chaos-names.ts";
import { HatefulSet } from "../kind/hateful-set.ts";
import { type Converted, fieldsAt, labelsOf, textAt } from "./converted.ts";

const workloads: ReadonlySet<string> = new Set(["Deployment", "StatefulSet", "DaemonSet"]);
/**
 * kube-monkey kills between 10 and 16 o'clock. With one of ten intervals, so many seconds give one act in the
 * six hours.
 */
const secondsOfDailyAct = 2_160;
const intervalMax = 604_800;

/** Undefined for an object without the labels. */
export function fromKubeMonkey(object: unknown): Converted | undefined {
  const { kind } = fieldsAt({ object }, "object");
  const metadata = fieldsAt(object, "metadata");
  const labels = labelsOf(fieldsAt(metadata, "labels"));
  if (typeof kind !== "string" || !workloads.has(kind) || labels["kube-monkey/enabled"] !== "enabled") return undefined;
  const [name = "", namespace] = [textAt(metadata, "name"), textAt(metadata, "namespace")];
  const days = Number(labels["kube-monkey/mtbf"] ?? "1");
  const interval = Math.min(intervalMax, Math.max(1, Math.round(days)) * secondsOfDailyAct);
  const place = namespace === undefined ? {} : { namespace };
  const set = HatefulSet({
    ...{ name: `${name}-chaos`, ...place },
    spec: {
      ...{ chaosLevel: 1, interval },
      window: { days: ["Mon", "Tue", "Wed", "Thu", "Fri"], from: "10:00", to: "16:00" },
      selector: { matchLabels: labelsOf(fieldsAt(object, "spec", "template", "metadata", "labels")) },
      ...(labels["kube-monkey/kill-mode"] === "kill-all" ? { budget: { acts: 1, seconds: 86_400 } } : {}),
    },
  });
  const where = namespace === undefined ? "" : ` -n ${namespace}`;
  return {
    set,
    differences: [
      `opt in: kubectl label ${kind.toLowerCase()} ${name}${where} ${chaosNames.chaos}=enabled`,
      "the window is in UTC; set spec.window.timeZone",
      ...killMode(labels["kube-monkey/kill-mode"] ?? "fixed", labels["kube-monkey/kill-value"] ?? "1"),
    ],
  };
}

function killMode(mode: string, value: string): readonly string[] {
  if (mode === "fixed" && value === "1") return [];
  return [
    `kill-mode ${mode} with kill-value ${value}: an act strikes one pod, and the next one waits until it is back`,
  ];
}
