/** Reaches the members of a cluster with its credentials, and keeps its certificates. */
import type { CertificateKeeper, CertificateReport, LeafState } from "@setpoint/data-service";
import type { ReconcileContext } from "setpoint";
import { type Pod, Secret } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import type { Authentication, EtcdGateway, EtcdLogin } from "../gateway/etcd-gateway.ts";
import { schemeOf } from "../kind/member-names.ts";
import { RootLogins } from "./root-logins.ts";
import { rootSecretName } from "../resources/root-login.ts";
import { type CertificateRole, certificatesOf, operatorRole, placeOf, serverName } from "../resources/tls.ts";

/** What an observation learns of the certificates, and a gateway that uses them. */
export interface Connection {
  readonly gateway: EtcdGateway;
  /** Undefined without TLS. */
  readonly certificates?: CertificateReport | undefined;
  /** Whether the Secret with the login of root should exist, and does not. */
  readonly isRootMissing: boolean;
}

/** A cluster that asks for logins, or is to ask for them. */
export interface Locked {
  readonly cluster: EtcdCluster;
  readonly authentication?: Authentication | undefined;
}

export class EtcdConnections {
  readonly #gateway: EtcdGateway;
  readonly #keeper: CertificateKeeper;
  readonly #roots = new RootLogins();

  constructor(gateway: EtcdGateway, keeper: CertificateKeeper) {
    this.#gateway = gateway;
    this.#keeper = keeper;
  }

  async observe(cluster: EtcdCluster, pods: readonly Pod[], context: ReconcileContext): Promise<Connection> {
    const { name = "", namespace } = cluster.metadata;
    const shown = context.get(Secret, rootSecretName(name), namespace);
    const { login, isMissing } = await this.#roots.observe(cluster, shown, context);
    const root = { isRootMissing: isMissing };
    if (schemeOf(cluster) === "http") return { gateway: this.#with(undefined, login, cluster), ...root };
    const { report, own } = await this.#keeper.observe(certificatesOf(cluster, pods), operatorRole(cluster), context);
    return { gateway: this.#with(own, login, cluster), certificates: report, ...root };
  }

  /** A member that runs does not answer: maybe the credentials are old ones. */
  doubt(cluster: EtcdCluster): void {
    this.#roots.doubt(cluster);
    if (schemeOf(cluster) === "https") this.#keeper.forget(placeOf(cluster));
  }

  /** For changes. The credentials are read for each step, so that a rotated certificate counts at once. */
  async connect(cluster: EtcdCluster, context: ReconcileContext): Promise<EtcdGateway> {
    context.controller.changesOutside(`change the members of EtcdCluster "${cluster.metadata.name ?? ""}"`);
    return this.#connectAs(operatorRole(cluster), await this.#roots.read(cluster, context), cluster, context);
  }

  /**
   * Makes root and turns authentication on. Where data bring another password of root along, the certificate
   * of root gets in.
   */
  async enableAuthentication(
    { cluster, authentication }: Locked,
    endpoint: string,
    context: ReconcileContext,
  ): Promise<void> {
    context.controller.changesOutside(`turn on authentication of EtcdCluster "${cluster.metadata.name ?? ""}"`);
    const login = await this.#roots.ensure(cluster, context);
    if (authentication === "Refused") {
      const asRoot = await this.#connectAs("root", login, cluster, context);
      await asRoot.resetRoot(endpoint, context.signal);
    }
    const gateway = await this.#connectAs(operatorRole(cluster), login, cluster, context);
    await gateway.enableAuthentication(endpoint, context.signal);
  }

  /** Creates the Secret of root again, with the login that this process knows. */
  async restoreRoot({ cluster }: Pick<Locked, "cluster">, context: ReconcileContext): Promise<void> {
    await this.#roots.ensure(cluster, context);
    const secret = rootSecretName(cluster.metadata.name ?? "");
    context.event("Normal", "RootSecretRestored", `Secret "${secret}" was deleted, and has its login of root again`);
  }

  async #connectAs(
    role: CertificateRole,
    login: EtcdLogin | undefined,
    cluster: EtcdCluster,
    context: ReconcileContext,
  ): Promise<EtcdGateway> {
    const leaf = schemeOf(cluster) === "http" ? undefined : await this.#keeper.leafOf(role, placeOf(cluster), context);
    return this.#with(leaf, login, cluster);
  }

  async maintain(cluster: EtcdCluster, pods: readonly Pod[], context: ReconcileContext): Promise<void> {
    await this.#keeper.maintain(certificatesOf(cluster, pods), context);
  }

  #with(leaf: LeafState | undefined, login: EtcdLogin | undefined, cluster: EtcdCluster): EtcdGateway {
    if (leaf === undefined && login === undefined) return this.#gateway;
    if (leaf === undefined) return this.#gateway.withCredentials({ login });
    const { certificate, key } = leaf.pair;
    const tls = { ca: leaf.bundle, certificate, key, serverName: serverName(cluster) };
    return this.#gateway.withCredentials({ tls, login });
  }
}
