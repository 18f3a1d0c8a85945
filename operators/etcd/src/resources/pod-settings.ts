/** Whether a pod has what a spec sets for members, by the pod's own fields; pure. */
import { isDeepStrictEqual } from "node:util";
import { compareQuantities, parseQuantity, type Pod } from "setpoint/kinds";
import { allowedOptions, allowedVariables, optionIdentity } from "../kind/allowed-options.ts";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { optionDefaults } from "./option-defaults.ts";
import { tunedOptions } from "./tuned-options.ts";

type PodSpec = NonNullable<Pod["spec"]>;
type Container = PodSpec["containers"][number];
type Quantities = Readonly<Record<string, string | number>>;

export function hasSettings(cluster: EtcdCluster, { spec: present }: Pod): boolean {
  const { pod = {} } = cluster.spec;
  const options = { ...tunedOptions(cluster), ...cluster.spec.options };
  const container = present?.containers.find(({ name }) => name === "etcd");
  if (present === undefined || container === undefined) return false;
  return (
    isDeepStrictEqual(optionsOf(container, options), byIdentity(options)) &&
    isDeepStrictEqual(variablesOf(container), variablesOf(pod)) &&
    hasResources(container, pod.resources ?? {}) &&
    isDeepStrictEqual({ ...present.nodeSelector }, { ...pod.nodeSelector }) &&
    isDeepStrictEqual(plain(present.affinity ?? {}), plain(pod.affinity ?? {})) &&
    isDeepStrictEqual(tolerationsOf(present), plain(pod.tolerations ?? []))
  );
}

/** Options that a user may set, without those that the operator sets when no user does. */
function optionsOf(
  { args = [] }: Container,
  wanted: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const all = args.map((arg) => /^--([^=]+)=(.*)$/.exec(arg) ?? []);
  const tuning = all.filter(
    ([, name = "", value]) =>
      allowedOptions.includes(name) && (wanted[name] !== undefined || optionDefaults[name] !== value),
  );
  return byIdentity(Object.fromEntries(tuning.map(([, name = "", value = ""]) => [name, value])));
}

/** An option that only has another name is the same option. */
function byIdentity(options: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [optionIdentity(name), value]));
}

function variablesOf({
  env = [],
}: {
  readonly env?: readonly { readonly name: string; readonly value?: string }[] | undefined;
}): Readonly<Record<string, string | undefined>> {
  const names: readonly string[] = allowedVariables;
  return Object.fromEntries(env.filter(({ name }) => names.includes(name)).map(({ name, value }) => [name, value]));
}

function hasResources(
  { resources = {} }: Container,
  wanted: NonNullable<EtcdCluster["spec"]["pod"]>["resources"] & {},
): boolean {
  const { limits = {}, requests = {} } = wanted;
  // The server takes a missing request from the limit.
  return isSame(resources.limits ?? {}, limits) && isSame(resources.requests ?? {}, { ...limits, ...requests });
}

function isSame(present: Quantities, wanted: Quantities): boolean {
  const names = new Set([...Object.keys(present), ...Object.keys(wanted)]);
  return [...names].every((name) => {
    const [is, shall] = [present[name], wanted[name]];
    return (
      is !== undefined &&
      shall !== undefined &&
      compareQuantities(parseQuantity(String(is)), parseQuantity(String(shall))) === 0
    );
  });
}

/** Without those that the server gives every pod. */
function tolerationsOf({ tolerations = [] }: PodSpec): unknown {
  return plain(
    tolerations.filter(
      ({ key, tolerationSeconds }) =>
        !(key?.startsWith("node.kubernetes.io/") === true && tolerationSeconds === defaultTolerationSeconds),
    ),
  );
}

const defaultTolerationSeconds = 300;

/** Without fields that are undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
