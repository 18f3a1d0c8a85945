/** One embedded cluster with the etcd operator in it, on which tests make and remove their EtcdClusters. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pod } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { startCluster } from "@setpoint/cli";
import { createClient, type Client } from "@setpoint/client";
import { ServiceBinding } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { vi } from "vitest";
import { applyFile } from "../../examples/etcd/install.ts";
import { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { bind, loginOf } from "../../examples/etcd/tour/bindings.ts";
import { LedgerWriter, type Login } from "../../examples/etcd/tour/ledger-writer.ts";
import { expectStatus } from "./expect-status.ts";
import { processesWith } from "../processes.ts";

const manifests = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url).pathname;
const operator = { name: "etcd-operator", namespace: "setpoint-system" };
const namespace = "default";
/** The first cluster may wait for an image. */
const startMsMax = 120_000;
const removalMsMax = 30_000;
const settleMsMax = 15_000;

type Spec = Partial<EtcdCluster["spec"]> & Pick<EtcdCluster["spec"], "size" | "version">;
export type Story = (cluster: ClusterUnderTour, writer: LedgerWriter) => Promise<void>;

function ledgerBinding({ name }: ClusterUnderTour): string {
  return `${name}-ledger`;
}

export class Playground implements AsyncDisposable {
  readonly client: Client;
  /** The path of a kubeconfig of its administrator. */
  readonly kubeconfig: string;
  readonly #directory: string;
  readonly #parts: AsyncDisposableStack;

  private constructor(client: Client, directory: string, parts: AsyncDisposableStack) {
    this.client = client;
    this.kubeconfig = join(directory, "kubeconfig");
    this.#directory = directory;
    this.#parts = parts;
  }

  static async open(): Promise<Playground> {
    await using parts = new AsyncDisposableStack();
    const directory = mkdtempSync(join(tmpdir(), "setpoint-e2e-"));
    parts.defer(() => rmSync(directory, { recursive: true }));
    const say = (line: string): void => console.log(line);
    const cluster = parts.use(await startCluster({ directory: join(directory, "data"), port: 0, nodes: 1, say }));
    writeFileSync(join(directory, "kubeconfig"), cluster.kubeconfig, { mode: 0o600 });
    const client = createClient(cluster.transport, cluster.host);
    await applyFile(client, manifests);
    return new Playground(client, directory, parts.move());
  }

  /**
   * Makes an EtcdCluster, waits until it runs, and tells its story under a writer; afterwards its status must
   * be as its spec wants it, nothing that was acknowledged may be lost, and nothing may be left when it is
   * deleted. A story that restores in place loses what was written since the backup, on purpose. With
   * authentication, the writer has the login of a ServiceBinding.
   */
  async tell(name: string, spec: Spec, story: Story, { losesWrites = false } = {}): Promise<void> {
    const cluster = new ClusterUnderTour(this.client, name, namespace, operator);
    await this.client.create(EtcdCluster, EtcdCluster({ name, namespace, spec }));
    const asksForLogins = spec.auth?.enabled === true;
    const hasStarted = async (): Promise<boolean> =>
      (await cluster.isSettled(spec.size)) && (!asksForLogins || (await cluster.get()).status?.auth !== undefined);
    await cluster.until(`the start of ${name}`, hasStarted, startMsMax);
    try {
      await this.#tellUnderWrites(cluster, story, losesWrites);
    } catch (error) {
      // The next story needs the place; why this one failed is what counts.
      await this.#remove(cluster).catch((cause: unknown) => console.log(cause));
      throw error;
    }
    await this.#remove(cluster);
  }

  async #tellUnderWrites(cluster: ClusterUnderTour, story: Story, losesWrites: boolean): Promise<void> {
    const login = (await cluster.get()).status?.auth === undefined ? undefined : await this.#bindWriter(cluster);
    await using writer = new LedgerWriter(await cluster.clientEndpoint(), "ledger/", login);
    await story(cluster, writer);
    // The readiness of pods that were restarted may lag behind what etcd says.
    await vi.waitFor(() => expectStatus(cluster), { timeout: settleMsMax, interval: 200 });
    const { acknowledged, lost } = await writer.finish();
    if (lost.length > 0 && !losesWrites)
      throw new Error(`${lost.length} of ${acknowledged} acknowledged writes are lost: ${lost[0]} …`);
  }

  async #bindWriter(cluster: ClusterUnderTour): Promise<Login> {
    const binding = ledgerBinding(cluster);
    await bind(cluster, binding, { rights: { "ledger/": "readwrite" } });
    const { username: name = "", password = "" } = await loginOf(cluster, binding);
    return { name, password };
  }

  async #remove(cluster: ClusterUnderTour): Promise<void> {
    const bound = { name: ledgerBinding(cluster), namespace };
    await this.client.delete(ServiceBinding, bound).catch((cause: unknown) => {
      if (!isNotFound(cause)) throw cause;
    });
    await this.client.delete(EtcdCluster, { name: cluster.name, namespace });
    const isGone = async (): Promise<boolean> => (await this.#leftovers(cluster)).length === 0;
    await cluster.until(`the end of ${cluster.name}`, isGone, removalMsMax).catch(async (cause: unknown) => {
      throw new Error(`Left of ${cluster.name}: ${(await this.#leftovers(cluster)).join(", ")}`, { cause });
    });
  }

  /** Objects, processes and volumes; the other clusters of the playground are gone already. */
  async #leftovers(cluster: ClusterUnderTour): Promise<readonly string[]> {
    const processes = processesWith(`--name=${cluster.name}-`).map((pid) => `process ${pid}`);
    return [...(await cluster.leftovers()), ...processes, ...(await this.#leftFolders())];
  }

  /** What the node keeps of pods that are gone, and of volumes. */
  async #leftFolders(): Promise<readonly string[]> {
    const { items } = await this.client.listAll(Pod);
    const uids = new Set(items.map(({ metadata }) => metadata.uid));
    const node = join(this.#directory, "data/nodes/node-1");
    const entries = (name: string): readonly string[] =>
      existsSync(join(node, name)) ? readdirSync(join(node, name)).filter((entry) => !uids.has(entry)) : [];
    return ["volumes", "pods", "sandboxes"].flatMap((name) => entries(name).map((entry) => `${name}/${entry}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
