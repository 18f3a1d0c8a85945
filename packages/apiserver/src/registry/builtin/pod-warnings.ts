/** Warnings about a pod's spec, in the words and the order of upstream. */
import { lookupTable } from "@setpoint/apimachinery";
import { type JsonObject, objectAt, objectsAt, stringAt, textOf, valueAt } from "../json-fields.ts";
import { quantityNanos } from "./canonical-quantity.ts";

const deprecatedLabels: Readonly<Record<string, string>> = lookupTable({
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
});

const deprecatedVolumes: readonly (readonly [source: string, since: string])[] = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

const selectsNothing = "a null labelSelector results in matching no pod";

/** Warnings about the spec at the path `at`. */
export function podWarnings(spec: JsonObject, at: string): readonly string[] {
  const grace = spec["terminationGracePeriodSeconds"];
  return [
    ...nodeWarnings(spec, at),
    ...spreadWarnings(spec, at),
    ...volumeWarnings(spec, at),
    ...repeatWarnings(spec, at),
    ...fractionWarnings(objectAt(spec, "overhead"), ["memory", "ephemeral-storage"], `${at}.overhead`),
    ...containersOf(spec, at).flatMap(containerWarnings),
    ...portWarnings(spec, at),
    ...portNameWarnings(spec, at),
    ...(typeof grace === "number" && grace < 0
      ? [`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(spec, at),
  ];
}

function nodeWarnings(spec: JsonObject, at: string): readonly string[] {
  const selected = Object.keys(objectAt(spec, "nodeSelector")).flatMap((label) =>
    deprecatedLabels[label] === undefined ? [] : [`${at}.nodeSelector[${label}]: ${deprecatedLabels[label]}`],
  );
  const affinity = objectAt(spec, "affinity", "nodeAffinity");
  const where = `${at}.affinity.nodeAffinity`;
  const requiredField = "requiredDuringSchedulingIgnoredDuringExecution";
  const preferredField = "preferredDuringSchedulingIgnoredDuringExecution";
  return [
    ...selected,
    ...objectsAt(affinity, requiredField, "nodeSelectorTerms").flatMap((term, index) =>
      termWarnings(term, `${where}.${requiredField}.nodeSelectorTerms[${index}]`),
    ),
    ...objectsAt(affinity, preferredField).flatMap((term, index) =>
      termWarnings(objectAt(term, "preference"), `${where}.${preferredField}[${index}].preference`),
    ),
  ];
}

function termWarnings(term: JsonObject, at: string): readonly string[] {
  return objectsAt(term, "matchExpressions").flatMap((expression, index) => {
    const key = stringAt(expression, "key");
    const message = deprecatedLabels[key];
    return message === undefined ? [] : [`${at}.matchExpressions[${index}].key: ${key} is ${message}`];
  });
}

function spreadWarnings(spec: JsonObject, at: string): readonly string[] {
  return objectsAt(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
    const where = `${at}.topologySpreadConstraints[${index}]`;
    const key = stringAt(constraint, "topologyKey");
    const message = deprecatedLabels[key];
    return [
      ...(message === undefined ? [] : [`${where}.topologyKey: ${key} is ${message}`]),
      ...(constraint["labelSelector"] === undefined ? [`${where}.labelSelector: ${selectsNothing}`] : []),
    ];
  });
}

function volumeWarnings(spec: JsonObject, at: string): readonly string[] {
  return objectsAt(spec, "volumes").flatMap((volume, index) => {
    const where = `${at}.volumes[${index}]`;
    const claim = objectAt(volume, "ephemeral", "volumeClaimTemplate", "spec");
    return [
      ...deprecatedVolumes
        .filter(([source]) => volume[source] !== undefined)
        .map(([source, since]) => `${where}.${source}: ${since}`),
      ...claimWarnings(claim, `${where}.ephemeral.volumeClaimTemplate.spec`),
    ];
  });
}

/** Warnings about the spec of a claim at the path `at`. */
export function claimWarnings(claim: JsonObject, at: string): readonly string[] {
  return ["requests", "limits"].flatMap((field) =>
    fractionWarnings(objectAt(claim, "resources", field), ["storage"], `${at}.resources.${field}`),
  );
}

function fractionWarnings(amounts: JsonObject, names: readonly string[], at: string): readonly string[] {
  return names
    .filter((name) => amounts[name] !== undefined)
    .filter((name) => (quantityNanos(textOf(amounts[name])) ?? 0n) % 1_000_000_000n !== 0n)
    .map((name) => `${at}[${name}]: fractional byte value ${shown(amounts[name])} is invalid, must be an integer`);
}

function shown(value: unknown): string {
  return JSON.stringify(textOf(value));
}

function repeatWarnings(spec: JsonObject, at: string): readonly string[] {
  const addresses = objectsAt(spec, "hostAliases").map((each) => stringAt(each, "ip"));
  const secrets = objectsAt(spec, "imagePullSecrets").map((each) => stringAt(each, "name"));
  return [
    ...repeats(addresses).map((index) => `${at}.hostAliases[${index}].ip: duplicate ip ${shown(addresses[index])}`),
    ...repeats(secrets).map(
      (index) => `${at}.imagePullSecrets[${index}].name: duplicate name ${shown(secrets[index])}`,
    ),
    ...secrets.flatMap((name, index) =>
      name === "" ? [`${at}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
  ];
}

/** The places of values that stood before. */
function repeats(values: readonly string[]): readonly number[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [index];
    seen.add(value);
    return [];
  });
}

interface PlacedContainer {
  readonly container: JsonObject;
  readonly at: string;
}

function containersOf(spec: JsonObject, at: string): readonly PlacedContainer[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    objectsAt(spec, list).map((container, index) => ({ container, at: `${at}.${list}[${index}]` })),
  );
}

function containerWarnings({ container, at }: PlacedContainer): readonly string[] {
  const resources = objectAt(container, "resources");
  const fractions = ["memory", "ephemeral-storage"].flatMap((name) =>
    ["limits", "requests"].flatMap((field) =>
      fractionWarnings(objectAt(resources, field), [name], `${at}.resources.${field}`),
    ),
  );
  const variables = objectsAt(container, "env");
  const names = variables.map((each) => stringAt(each, "name"));
  return [
    ...fractions,
    ...repeats(names)
      .filter((index) => hidesAnother(variables[index] ?? {}))
      .map((index) => {
        const name = shown(names[index]);
        return `${at}.env[${index}]: hides previous definition of ${name}, which may be dropped when using apply`;
      }),
  ];
}

/** A later variable of the same name may extend the earlier one: `$(NAME)` in its value. */
function hidesAnother(variable: JsonObject): boolean {
  const earlier = `$(${stringAt(variable, "name")})`;
  const value = stringAt(variable, "value");
  return variable["valueFrom"] !== undefined || value === earlier || !value.includes(earlier);
}

interface PlacedPort {
  readonly port: JsonObject;
  readonly at: string;
}

function portsOf(spec: JsonObject, at: string): readonly PlacedPort[] {
  return containersOf(spec, at).flatMap(({ container, at: where }) =>
    objectsAt(container, "ports").map((port, index) => ({ port, at: `${where}.ports[${index}]` })),
  );
}

function portWarnings(spec: JsonObject, at: string): readonly string[] {
  const byPort = new Map<string, PlacedPort[]>();
  return portsOf(spec, at).flatMap((placed) => {
    const { port } = placed;
    const key = `${textOf(port["containerPort"] ?? 0)}/${textOf(port["protocol"] ?? "TCP")}`;
    const others = byPort.get(key) ?? [];
    byPort.set(key, [...others, placed]);
    return others.flatMap((other) => overlapOf(placed, other));
  });
}

function overlapOf({ port, at }: PlacedPort, other: PlacedPort): readonly string[] {
  const [ip, otherIp] = [stringAt(port, "hostIP"), stringAt(other.port, "hostIP")];
  const [hostPort, otherHostPort] = [valueAt(port, "hostPort") ?? 0, valueAt(other.port, "hostPort") ?? 0];
  const isEqual = ip === otherIp && hostPort === otherHostPort;
  if (isEqual) return [`${at}: duplicate port definition with ${other.at}`];
  if (hostPort === 0 || otherHostPort === 0) return [`${at}: overlapping port definition with ${other.at}`];
  const isAmbiguous = hostPort === otherHostPort && (ip === "") !== (otherIp === "");
  return isAmbiguous ? [`${at}: dangerously ambiguous port definition with ${other.at}`] : [];
}

function portNameWarnings(spec: JsonObject, at: string): readonly string[] {
  const byName = new Map<string, string>();
  return portsOf(spec, at).flatMap(({ port, at: where }) => {
    const name = stringAt(port, "name");
    if (name === "") return [];
    const other = byName.get(name);
    if (other === undefined) byName.set(name, where);
    const effect = `services and probes that select ports by name will use ${other}`;
    return other === undefined ? [] : [`${where}: duplicate port name ${shown(name)} with ${other}, ${effect}`];
  });
}

function affinityWarnings(spec: JsonObject, at: string): readonly string[] {
  return ["podAffinity", "podAntiAffinity"].flatMap((kind) => {
    const affinity = objectAt(spec, "affinity", kind);
    const where = `${at}.affinity.${kind}`;
    const lacks = (term: JsonObject): boolean => term["labelSelector"] === undefined;
    const requiredField = "requiredDuringSchedulingIgnoredDuringExecution";
    const preferredField = "preferredDuringSchedulingIgnoredDuringExecution";
    return [
      ...objectsAt(affinity, requiredField).flatMap((term, index) =>
        lacks(term) ? [`${where}.${requiredField}[${index}].labelSelector: ${selectsNothing}`] : [],
      ),
      ...objectsAt(affinity, preferredField).flatMap((term, index) =>
        lacks(objectAt(term, "podAffinityTerm"))
          ? [`${where}.${preferredField}[${index}].podAffinityTerm.labelSelector: ${selectsNothing}`]
          : [],
      ),
    ];
  });
}
