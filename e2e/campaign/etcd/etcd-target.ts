/** An EtcdCluster as the campaign strikes it. */
import type { ClusterUnderTour } from "../../../examples/etcd/tour/cluster-under-tour.ts";
import type { EtcdMember } from "../../../examples/etcd/tour/etcd-client.ts";
import { findMemberProcess } from "../../../examples/etcd/tour/member-process.ts";
import type { Target } from "../target.ts";

const electionMsMax = 30_000;
const size = 3;

export class EtcdTarget implements Target {
  readonly cluster: ClusterUnderTour;

  constructor(cluster: ClusterUnderTour) {
    this.cluster = cluster;
  }

  /** By etcd itself: the status of the EtcdCluster may be some seconds old. */
  async leader(): Promise<string> {
    return (await this.#leading()).name;
  }

  async followers(): Promise<readonly string[]> {
    const { id } = await this.#leading();
    const members = await this.cluster.etcdMembers();
    return members.filter((member) => member.id !== id && !member.learner).map(({ name }) => name);
  }

  async processesOf(member: string): Promise<readonly number[]> {
    const pid = findMemberProcess(member);
    return pid === undefined ? [] : [pid];
  }

  async addressOf(member: string): Promise<string> {
    const pod = (await this.cluster.pods()).find(({ metadata }) => metadata.name === member);
    const address = pod?.status?.podIP;
    if (address === undefined) throw new Error(`pod ${member} has no address`);
    return address;
  }

  async peersOf(): Promise<undefined> {
    return undefined;
  }

  async isSettled(): Promise<boolean> {
    return (await this.cluster.isSettled(size)) && (await this.cluster.etcdStatuses()).length === size;
  }

  async until(what: string, holds: () => Promise<boolean>, withinMs: number): Promise<unknown> {
    return this.cluster.until(what, holds, withinMs);
  }

  async #leading(): Promise<EtcdMember> {
    let member: EtcdMember | undefined;
    const isFound = async (): Promise<boolean> => {
      const leading = (await this.cluster.etcdStatuses()).find(({ id, leader }) => id === leader);
      member = (await this.cluster.etcdMembers()).find(({ id }) => id === leading?.id);
      return member !== undefined;
    };
    await this.cluster.until("a leader", isFound, electionMsMax);
    if (member === undefined) throw new Error("no member of etcd leads");
    return member;
  }
}
