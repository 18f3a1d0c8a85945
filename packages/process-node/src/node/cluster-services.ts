import { EndpointSlice, Service } from "@setpoint/api";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { KindInformer } from "../cluster/kind-informer.ts";
import type { NodeEvents } from "../cluster/node-events.ts";
import { ClusterDns } from "../network/cluster-dns.ts";
import { reportDns, reportService } from "../network/network-reports.ts";
import { type NodeDnsState, serveDns } from "../network/node-dns.ts";
import type { NodeNetwork } from "../network/node-network.ts";
import { ServiceProxy } from "../network/service-proxy.ts";
import { createServiceTable, type ServiceTable } from "../network/service-table.ts";

export interface ClusterServicesOptions {
  readonly client: Client;
  readonly host: Host;
  readonly nodeName: string;
  readonly events: NodeEvents;
  readonly nodeNetwork: NodeNetwork;
  readonly dnsAddress: string;
  /** Services or endpoints changed, and pods resolve their names from /etc/hosts. */
  readonly onHostsChange: () => void;
}

/**
 * The cluster's Services on this node: their endpoints, their addresses on the host and their names in DNS.
 */
export class ClusterServices implements AsyncDisposable {
  readonly table: ServiceTable;
  readonly proxy: ServiceProxy;
  readonly #options: ClusterServicesOptions;
  readonly #services: KindInformer<Service>;
  readonly #slices: KindInformer<EndpointSlice>;
  readonly #dns: ClusterDns;
  #dnsState: NodeDnsState = { isServed: false };
  #isUpdateDue = false;

  constructor(options: ClusterServicesOptions) {
    const { client, host, events, nodeNetwork } = options;
    const onChange = (): void => this.#updateLater();
    this.#options = options;
    this.#services = new KindInformer({ client, host, kind: Service, onChange });
    this.#slices = new KindInformer({ client, host, kind: EndpointSlice, onChange });
    this.table = createServiceTable(
      () => this.#services.values(),
      () => this.#slices.values(),
    );
    this.proxy = new ServiceProxy(this.table, (problem) => reportService(host.log, events, problem), nodeNetwork.proxy);
    this.#dns = new ClusterDns(this.table, host.clock, nodeNetwork.dnsSockets);
  }

  /** Undefined when no DNS server answers for the cluster here; pods then resolve names from /etc/hosts. */
  get dnsAddress(): string | undefined {
    return this.#dnsState.isServed ? this.#options.dnsAddress : undefined;
  }

  /** Resolves when the Services are known, listened for and named. */
  async start(): Promise<void> {
    await Promise.all([this.#services.synced, this.#slices.synced]);
    this.proxy.update();
    await this.#updateDns();
  }

  /** Listens on addresses that another node of this machine has released. */
  async retry(): Promise<void> {
    this.proxy.retry();
    await this.#updateDns();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using stack = new AsyncDisposableStack();
    for (const part of [this.#services, this.#slices, this.proxy, this.#dns]) stack.use(part);
  }

  /** Pods of this node came, changed or went: they may have ports of the node. */
  podsChanged(): void {
    this.#updateLater();
  }

  /** Once for all changes of one turn. */
  #updateLater(): void {
    if (this.#isUpdateDue) return;
    this.#isUpdateDue = true;
    const { host, nodeNetwork, onHostsChange } = this.#options;
    host.clock.defer(() => {
      this.#isUpdateDue = false;
      this.proxy.update();
      nodeNetwork.update();
      if (this.dnsAddress === undefined) onHostsChange();
    });
  }

  async #updateDns(): Promise<void> {
    const { dnsAddress: address, events, host, nodeName, nodeNetwork } = this.#options;
    const before = this.#dnsState;
    const isOurs = nodeNetwork.network.kind === "namespace";
    this.#dnsState = await serveDns(this.#dns, this.table, { address, isOurs });
    const { problem } = this.#dnsState;
    if (problem === before.problem) return;
    if (problem !== undefined) reportDns(host.log, events, nodeName, address, problem);
    else host.log.info("Started cluster DNS", { address });
  }
}
