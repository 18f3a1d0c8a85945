/** The pod of a run; pure. */
import { Pod } from "setpoint/kinds";
import { type ActGroup, actGroups } from "../acts/act.ts";
import { catalogue } from "../acts/catalogue.ts";
import type { ComplianceProbe } from "../kind/compliance-probe.ts";
import { reportBytesMax } from "./probe-report.ts";
import { podVariables, requestText, requestVariable, scratchFolder } from "./probe-request.ts";

export const probeLabel = "compliance.setpoint.dev/probe";
/** The annotations of a pod: the number of its run, the generation of the spec, and what asked for it. */
export const runNumber = "compliance.setpoint.dev/run-number";
export const specGeneration = "compliance.setpoint.dev/generation";
export const requestedBy = "compliance.setpoint.dev/requested";

type Container = NonNullable<Pod["spec"]>["containers"][number];

const fields: Readonly<Record<keyof typeof podVariables, string>> = {
  namespace: "metadata.namespace",
  serviceAccount: "spec.serviceAccountName",
  pod: "metadata.name",
  node: "spec.nodeName",
  nodeAddress: "status.hostIP",
};

/** The acts that a probe tries, in the order of the catalogue. */
export function selectedActs({ acts }: ComplianceProbe["spec"]): readonly string[] {
  const all = catalogue.map(({ name }) => name);
  return acts === undefined ? all : all.filter((name) => acts.includes(name));
}

export function podName(probe: string, number: number): string {
  return `${probe}-run-${number}`;
}

/** What identifies a run. */
export interface RunFacts {
  readonly number: number;
  readonly requested?: string | undefined;
}

/** A container for each group of acts, so that one that is killed takes no results of others along. */
export function probePod(probe: ComplianceProbe, { number, requested }: RunFacts, image: string): Pod {
  const { name = "", namespace = "", generation = 0 } = probe.metadata;
  const { spec } = probe;
  const groups = groupsOf(selectedActs(spec));
  return Pod({
    name: podName(name, number),
    namespace,
    labels: { ...spec.pod.metadata?.labels, [probeLabel]: name },
    annotations: {
      ...spec.pod.metadata?.annotations,
      [runNumber]: String(number),
      [specGeneration]: String(generation),
      ...(requested === undefined ? {} : { [requestedBy]: requested }),
    },
    spec: {
      restartPolicy: "Never",
      serviceAccountName: spec.serviceAccountName,
      activeDeadlineSeconds: spec.deadlineSeconds,
      terminationGracePeriodSeconds: 0,
      enableServiceLinks: false,
      ...podFields(spec.pod),
      containers: groups.map(([group, acts]) => container(spec, group, acts, { image, count: groups.length })),
      volumes: [{ name: "scratch", emptyDir: {} }],
    },
  });
}

function groupsOf(names: readonly string[]): readonly (readonly [ActGroup, readonly string[]])[] {
  const selected = new Set(names);
  return actGroups
    .map((group) => {
      const acts = catalogue.filter((each) => each.group === group && selected.has(each.name));
      return [group, acts.map(({ name }) => name)] as const;
    })
    .filter(([, acts]) => acts.length > 0);
}

function podFields({ securityContext, nodeSelector, tolerations, runtimeClassName }: ComplianceProbe["spec"]["pod"]) {
  return {
    ...(securityContext === undefined ? {} : { securityContext }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
  };
}

function container(
  { otherNamespace, deniedServices, pod }: ComplianceProbe["spec"],
  group: ActGroup,
  acts: readonly string[],
  { image, count }: { readonly image: string; readonly count: number },
): Container {
  const request = {
    acts: [...acts],
    otherNamespace,
    deniedServices: [...deniedServices],
    image,
    reportBytesMax: reportBytesMax(count),
  };
  const names = Object.entries(podVariables) as [keyof typeof podVariables, string][];
  return {
    name: group,
    image,
    args: ["probe"],
    env: [
      { name: requestVariable, value: requestText(request) },
      ...names.map(([key, name]) => ({ name, valueFrom: { fieldRef: { fieldPath: fields[key] } } })),
    ],
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [{ name: "scratch", mountPath: scratchFolder }],
    ...(pod.resources === undefined ? {} : { resources: pod.resources }),
    ...(pod.containerSecurityContext === undefined ? {} : { securityContext: pod.containerSecurityContext }),
  };
}
