import type { EtcdCluster } from "@setpoint/etcd-operator";
import { expect } from "vitest";
import type { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";

/** The status says that everything is as the spec wants it, and what etcd itself says agrees. */
export async function expectStatus(cluster: ClusterUnderTour): Promise<void> {
  const { spec, status, metadata } = await cluster.get();
  const { size, version } = spec;
  expect(status).toMatchObject({
    phase: "Running",
    observedGeneration: metadata.generation,
    size,
    readyMembers: size,
    currentVersion: version,
    targetVersion: version,
    serviceName: `${cluster.name}-client`,
    selector: cluster.selector,
  });
  const members = status?.members ?? [];
  expect(members.map((each) => [each.healthy, each.version])).toEqual(members.map(() => [true, version]));
  const leaders = members.filter(({ role }) => role === "Leader");
  expect(leaders.map(({ name }) => name)).toEqual([status?.leader]);
  expect(members.filter(({ role }) => role === "Follower")).toHaveLength(size - 1);
  expect(conditions(status)).toMatchObject({ Available: "True", Degraded: "False", Progressing: "False" });
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
  const listed = (await cluster.etcdMembers()).map(({ name, id }) => ({ name, id }));
  expect(members.map(({ name, id }) => ({ name, id })).sort(byName)).toEqual(listed.sort(byName));
}

/** Type → status. */
export function conditions(status: EtcdCluster["status"]): Readonly<Record<string, string>> {
  return Object.fromEntries((status?.conditions ?? []).map(({ type, status: value }) => [type, value]));
}
