/** The act under way, as the targets show it; pure. */
import { matchesLabelSelector } from "setpoint/kinds";
import { type ActRecord, sayingsMax } from "../kind/act-record.ts";
import type { Seen, SeenPod, SeenTarget } from "../seen/seen.ts";

/** The record with what has been seen since: whether it is done, and what the target says now. */
export function observedAct(seen: Seen, act: ActRecord, nowMs: number): ActRecord {
  const isDone =
    act.phase === "Struck" || (act.lasting === undefined ? podOf(seen, act) === undefined : isLasting(seen, act));
  const said = targetOf(seen, act)?.said;
  return {
    ...act,
    phase: isDone ? "Struck" : "Intended",
    said: said === undefined ? act.said : withSaying(act, said, nowMs),
  };
}

export function targetOf({ targets = [] }: Seen, { target }: ActRecord): SeenTarget | undefined {
  return targets.find(
    ({ apiVersion, kind, name }) =>
      name === target.name && kind === target.kind && groupOf(apiVersion) === groupOf(target.apiVersion),
  );
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/** The victim while it lives; with `ending`, also while it is being deleted. */
export function podOf(seen: Seen, act: ActRecord, which: "living" | "ending" = "living"): SeenPod | undefined {
  const pod = targetOf(seen, act)?.pods.find(({ pod: { metadata } }) => metadata.uid === act.victim.uid);
  return pod?.isEnding === true && which === "living" ? undefined : pod;
}

/** Whether the fault of the act is there now. */
export function isLasting({ policies }: Seen, { lasting }: ActRecord): boolean {
  return lasting !== undefined && policies.includes(lasting.policy);
}

/** The pods that an act that is not done yet would strike. */
export function struckPods(seen: Seen, act: ActRecord): readonly SeenPod[] {
  const { lasting } = act;
  const pod = podOf(seen, act);
  if (lasting === undefined) return pod === undefined ? [] : [pod];
  const selector = { matchLabels: lasting.podLabels };
  return (
    targetOf(seen, act)?.pods.filter((each) => matchesLabelSelector(selector, each.pod.metadata.labels ?? {})) ?? []
  );
}

/** Only news; the first sentence stays, because it tells what was before. */
function withSaying({ said = [] }: ActRecord, text: string, nowMs: number): ActRecord["said"] {
  if (said.at(-1)?.text === text) return said;
  const all = [...said, { at: new Date(nowMs).toISOString(), text }];
  return all.length > sayingsMax ? [...all.slice(0, 1), ...all.slice(1 - sayingsMax)] : all;
}
