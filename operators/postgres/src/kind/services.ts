/** The Services of a cluster, and its disruption budget. */
import { PodDisruptionBudget, Service } from "setpoint/kinds";
import { labels } from "./labels.ts";
import { type InstanceRole, postgresPort } from "./names.ts";
import type { PostgresCluster } from "./postgres-cluster.ts";

interface ServiceWish {
  readonly suffix: string;
  readonly role?: InstanceRole;
  readonly isHeadless?: boolean;
}

const wishes: readonly ServiceWish[] = [
  // Names for the instances, which find each other before they are ready.
  { suffix: "", isHeadless: true },
  { suffix: "-rw", role: "primary" },
  { suffix: "-ro", role: "replica" },
  { suffix: "-r" },
];

export function wantedServices(cluster: PostgresCluster): readonly Service[] {
  const { name = "", namespace = "" } = cluster.metadata;
  return wishes.map(({ suffix, role, isHeadless = false }) =>
    Service({
      name: `${name}${suffix}`,
      namespace,
      labels: { [labels.cluster]: name },
      spec: {
        ...(isHeadless ? { clusterIP: "None", publishNotReadyAddresses: true } : {}),
        selector: { [labels.cluster]: name, ...(role === undefined ? {} : { [labels.role]: role }) },
        ports: [{ name: "postgres", port: postgresPort, protocol: "TCP", targetPort: postgresPort }],
      },
    }),
  );
}

/** A drain takes one replica at a time; it waits for a switchover before it takes the primary of several. */
export function wantedBudget({ metadata: { name = "", namespace = "" }, spec }: PostgresCluster): PodDisruptionBudget {
  return PodDisruptionBudget({
    name,
    namespace,
    labels: { [labels.cluster]: name },
    spec: { minAvailable: Math.max(0, spec.instances - 1), selector: { matchLabels: { [labels.cluster]: name } } },
  });
}

/** Compares what we set; the rest belongs to the server and to others. */
export function isServiceAsWanted(present: Service, wanted: Service): boolean {
  return (
    sameRecord(present.spec?.selector, wanted.spec?.selector) &&
    present.spec?.ports?.length === 1 &&
    present.spec.ports[0]?.port === postgresPort &&
    (present.spec.publishNotReadyAddresses ?? false) === (wanted.spec?.publishNotReadyAddresses ?? false)
  );
}

export function isBudgetAsWanted(present: PodDisruptionBudget, wanted: PodDisruptionBudget): boolean {
  return (
    present.spec?.minAvailable === wanted.spec?.minAvailable &&
    present.spec?.maxUnavailable === undefined &&
    sameRecord(present.spec?.selector?.matchLabels, wanted.spec?.selector?.matchLabels)
  );
}

function sameRecord(one: Readonly<Record<string, string>> = {}, other: Readonly<Record<string, string>> = {}): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
