/** PodChaos of chaos-mesh, alone or in a Schedule, becomes a HatefulSet in each of its namespaces. */
import { parseDuration } from "setpoint";
import { chaosNames } from "../kind/chaos-names.ts";
import { HatefulSet } from "../kind/hateful-set.ts";
import { type Converted, type Fields, fieldsAt, labelsOf, textAt } from "./converted.ts";

const group = "chaos-mesh.org/";
/** Fields that say the same here, or nothing that an act of one pod needs. */
const known: ReadonlySet<string> = new Set(["action", "mode", "value", "selector", "gracePeriod", "duration"]);

/** Empty for another object. Throws for what cannot become a HatefulSet. */
export function fromPodChaos(object: unknown): readonly Converted[] {
  const { apiVersion, kind, metadata } = fieldsAt({ object }, "object");
  if (typeof apiVersion !== "string" || !apiVersion.startsWith(group)) return [];
  const name = textAt(fieldsAt({ metadata }, "metadata"), "name") ?? "";
  const own = textAt(fieldsAt({ metadata }, "metadata"), "namespace");
  const isSchedule = kind === "Schedule";
  const spec = fieldsAt(object, "spec");
  if (kind !== "PodChaos" && !(isSchedule && spec["type"] === "PodChaos"))
    throw new Error(`Cannot convert ${String(kind)} "${name}": expected a PodChaos, or a Schedule of type PodChaos`);
  const chaos = isSchedule ? fieldsAt(spec, "podChaos") : spec;
  if (chaos["action"] !== "pod-kill")
    throw new Error(
      `Cannot convert ${String(kind)} "${name}": spec.action is ${JSON.stringify(chaos["action"])}, expected "pod-kill"; containers are not killed alone`,
    );
  const selector = fieldsAt(chaos, "selector");
  const listed = selector["namespaces"];
  const namespaces = Array.isArray(listed) && listed.length > 0 ? listed.map(String) : [own];
  const rate = isSchedule ? rateOf(name, textAt(spec, "schedule") ?? "") : { chaosLevel: 0, interval: 300 };
  return namespaces.map((namespace) => convertedIn(namespace, name, { chaos, selector, rate, isSchedule }));
}

interface Parts {
  readonly chaos: Fields;
  readonly selector: Fields;
  readonly rate: { readonly chaosLevel: number; readonly interval: number };
  readonly isSchedule: boolean;
}

function convertedIn(namespace: string | undefined, name: string, parts: Parts): Converted {
  const { chaos, selector, rate, isSchedule } = parts;
  const matchLabels = labelsOf(fieldsAt(selector, "labelSelectors"));
  const grace = textAt(chaos, "gracePeriod");
  const set = HatefulSet({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(isSchedule ? {} : { annotations: { [chaosNames.strike]: `PodChaos ${name}` } }),
    spec: {
      ...rate,
      ...(Object.keys(matchLabels).length === 0 ? {} : { selector: { matchLabels } }),
      gracePeriodSeconds: grace === undefined ? 0 : Number(grace),
    },
  });
  const lost = [
    ...Object.keys(chaos).filter((field) => !known.has(field)),
    ...Object.keys(selector)
      .filter((field) => field !== "namespaces" && field !== "labelSelectors")
      .map((field) => `selector.${field}`),
  ];
  return {
    set,
    differences: [
      `opt in: label pods, their owner or the namespace with ${chaosNames.chaos}=enabled`,
      ...(chaos["mode"] === "one" ? [] : [`mode ${String(chaos["mode"])}: an act strikes one pod`]),
      ...lost.map((field) => `${field}: not carried over`),
    ],
  };
}

/** `@every 5m`, or each n-th minute. */
function rateOf(name: string, schedule: string): Parts["rate"] {
  const [, every] = /^@every (.+)$/.exec(schedule) ?? [];
  const [, minutes] = /^\*\/(\d+) \* \* \* \*$/.exec(schedule) ?? [];
  const seconds = every === undefined ? Number(minutes) * 60 : parseDuration(every) / 1_000;
  if (Number.isFinite(seconds) && seconds >= 5) return { chaosLevel: 10, interval: Math.round(seconds) };
  throw new Error(
    `Cannot convert Schedule "${name}": spec.schedule is ${JSON.stringify(schedule)}, expected "@every DURATION" or "*/N * * * *"; write spec.interval and spec.window of a HatefulSet`,
  );
}
