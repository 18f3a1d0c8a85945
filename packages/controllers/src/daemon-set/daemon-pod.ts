/** A pod of a DaemonSet: it is pinned to its node by affinity, and the scheduler binds it there. */
import { Pod, type DaemonSet, type PodTemplateSpec } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { revisionHashLabel } from "../revisions/template-history.ts";
import type { Toleration } from "../scheduler/filters/taints.ts";

const nameField = "metadata.name";

function tolerates(key: string, effect: "NoExecute" | "NoSchedule"): Toleration {
  return { key: `node.kubernetes.io/${key}`, operator: "Exists", effect };
}

/** A daemon serves its node also while the node is unwell, so its pod stays and starts there. */
const builtIn: readonly Toleration[] = [
  tolerates("not-ready", "NoExecute"),
  tolerates("unreachable", "NoExecute"),
  tolerates("disk-pressure", "NoSchedule"),
  tolerates("memory-pressure", "NoSchedule"),
  tolerates("pid-pressure", "NoSchedule"),
  tolerates("unschedulable", "NoSchedule"),
];

/** Those of the template, and those that every daemon has. */
export function daemonTolerations({ spec }: PodTemplateSpec): readonly Toleration[] {
  const own = spec?.tolerations ?? [];
  const added = spec?.hostNetwork === true ? [...builtIn, tolerates("network-unavailable", "NoSchedule")] : builtIn;
  const isSame = (a: Toleration, b: Toleration): boolean =>
    a.key === b.key && a.operator === b.operator && a.effect === b.effect && (a.value ?? "") === (b.value ?? "");
  return [...own, ...added.filter((each) => !own.some((other) => isSame(each, other)))];
}

/** The pod for a node, by the present template. `hash` is that of the template's revision. */
export function daemonPod(set: Stored<DaemonSet>, name: string, node: string, hash: string): Pod {
  const { metadata = {}, spec } = set.spec.template;
  if (spec === undefined) throw new Error(`DaemonSet "${set.metadata.name}" has a template without a spec`);
  const generation = set.metadata.annotations?.["deprecated.daemonset.template.generation"];
  return Pod({
    name,
    namespace: set.metadata.namespace ?? "",
    labels: {
      ...metadata.labels,
      ...(generation === undefined ? {} : { "pod-template-generation": generation }),
      [revisionHashLabel]: hash,
    },
    annotations: metadata.annotations ?? {},
    finalizers: metadata.finalizers ?? [],
    spec: { ...spec, affinity: pinned(spec.affinity, node), tolerations: daemonTolerations(set.spec.template) },
  });
}

type Affinity = NonNullable<NonNullable<Pod["spec"]>["affinity"]>;

/** What the template requires of nodes was judged already, so the name takes its place. */
function pinned(affinity: Affinity | undefined, node: string): Affinity {
  const nodeSelectorTerms = [{ matchFields: [{ key: nameField, operator: "In" as const, values: [node] }] }];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
    },
  };
}

/** The node that a pod runs on, or is pinned to. */
export function targetNode({ spec }: Pod): string | undefined {
  if ((spec?.nodeName ?? "") !== "") return spec?.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const pins = terms.flatMap(({ matchFields = [] }) => matchFields).filter(({ key }) => key === nameField);
  return pins[0]?.values?.[0];
}
