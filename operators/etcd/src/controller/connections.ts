/** Reaches the members of a cluster with its credentials, and keeps its certificates. */
import type { CertificateKeeper, CertificateReport, LeafState } from "@setpoint/data-service";
import type { ReconcileContext } from "setpoint";
import type { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../etcd-cluster.ts";
import type { EtcdGateway } from "../gateway/etcd-gateway.ts";
import { schemeOf } from "../member-names.ts";
import { certificatesOf, placeOf, serverName } from "../resources/tls.ts";
import type { Seen } from "./seen.ts";

/** What an observation learns of the certificates, and a gateway that uses them. */
export interface Connection {
  readonly gateway: EtcdGateway;
  /** Undefined without TLS. */
  readonly certificates?: CertificateReport | undefined;
}

export class EtcdConnections {
  readonly #gateway: EtcdGateway;
  readonly #keeper: CertificateKeeper;

  constructor(gateway: EtcdGateway, keeper: CertificateKeeper) {
    this.#gateway = gateway;
    this.#keeper = keeper;
  }

  async observe(cluster: EtcdCluster, pods: readonly Pod[], context: ReconcileContext): Promise<Connection> {
    if (schemeOf(cluster) === "http") return { gateway: this.#gateway };
    const { report, own } = await this.#keeper.observe(certificatesOf(cluster, pods), "operator", context);
    return { gateway: this.#with(own, cluster), certificates: report };
  }

  /** A member that runs does not answer: maybe the credentials are old ones. */
  doubt(cluster: EtcdCluster): void {
    if (schemeOf(cluster) === "https") this.#keeper.forget(placeOf(cluster));
  }

  /** The credentials are read for each step, so that a rotated certificate counts at once. */
  async connect(cluster: EtcdCluster, context: ReconcileContext): Promise<EtcdGateway> {
    if (schemeOf(cluster) === "http") return this.#gateway;
    return this.#with(await this.#keeper.leafOf("operator", placeOf(cluster), context), cluster);
  }

  async maintain({ cluster, members }: Seen, context: ReconcileContext): Promise<void> {
    const pods = members.flatMap(({ pod }) => (pod === undefined ? [] : [pod]));
    await this.#keeper.maintain(certificatesOf(cluster, pods), context);
  }

  #with(leaf: LeafState | undefined, cluster: EtcdCluster): EtcdGateway {
    if (leaf === undefined) return this.#gateway;
    const { certificate, key } = leaf.pair;
    return this.#gateway.withCredentials({ ca: leaf.bundle, certificate, key, serverName: serverName(cluster) });
  }
}
