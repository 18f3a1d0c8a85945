/** An embedded cluster with the operator of test "append-log", and a store on a claim. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { PersistentVolumeClaim, Pod, Service } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import { manifestsYaml, ownImage, startCluster } from "@setpoint/cli";
import { type Client, createClient, type KindRef } from "@setpoint/client";
import { Backup, BackupStore, dataLabels, Restore } from "@setpoint/data-service";
import { installManifests } from "setpoint/install";
import { vi } from "vitest";
import { mirrorOnLoopback } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { AppendLog } from "../../operators/append-log/src/append-log.ts";
import { appendLogOperator } from "../../operators/append-log/src/append-log-operator.ts";
import { httpLogGateway } from "../../operators/append-log/src/log-gateway.ts";
import type { Entry, LogData } from "../../operators/append-log/src/server/log-data.ts";
import { Kubectl } from "../kubectl/kubectl.ts";

const image = "append-log.test/operator:1";
const folder = new URL("../../operators/append-log", import.meta.url).pathname;
const namespace = "default";
const waitMsMax = 240_000;
const port = 8_080;

export const instance = { apiGroup: "appendlog.setpoint.dev", kind: "AppendLog", name: "orders" };

/** It is compared and deleted, so it has no log of its own. */
function newInstance(name: string): Destination {
  return { newInstance: { name, spec: { members: 1 } } };
}

type Target = Restore["spec"]["target"];
type Destination = Pick<Restore["spec"], "newInstance" | "inPlace">;

export class AppendLogStage implements AsyncDisposable {
  readonly client: Client;
  readonly kubectl: Kubectl;
  readonly #directory: string;
  readonly #parts: AsyncDisposableStack;

  private constructor(client: Client, kubectl: Kubectl, directory: string, parts: AsyncDisposableStack) {
    this.client = client;
    this.kubectl = kubectl;
    this.#directory = directory;
    this.#parts = parts;
  }

  static async open(): Promise<AppendLogStage> {
    await using parts = new AsyncDisposableStack();
    const directory = mkdtempSync(join(tmpdir(), "setpoint-append-log-"));
    parts.defer(() => rmSync(directory, { recursive: true }));
    const localImages = { [image]: await ownImage({ folder }) };
    const options = { directory: join(directory, "data"), port: 0, nodes: 1, say: console.log, localImages };
    const cluster = parts.use(await startCluster(options));
    const kubectl = parts.use(new Kubectl(cluster.kubeconfig));
    const operator = appendLogOperator(httpLogGateway, { image, command: [] });
    const manifests = manifestsYaml(installManifests(operator, { image, namespace: "setpoint-system" }));
    await kubectl.ok("apply --server-side -f -", [], { input: manifests });
    await kubectl.ok("wait --for=condition=Available deployment --all -n setpoint-system --timeout=30s");
    const client = createClient(cluster.transport, cluster.host);
    const stage = new AppendLogStage(client, kubectl, directory, parts.move());
    await stage.#createStore();
    await stage.#createService();
    return stage;
  }

  async #createStore(): Promise<void> {
    const labels = { [dataLabels.backupStore]: "true" };
    const spec = { accessModes: ["ReadWriteOnce"] as const, resources: { requests: { storage: "64Mi" } } };
    await this.client.create(PersistentVolumeClaim, PersistentVolumeClaim({ name: "vault", namespace, labels, spec }));
    await this.client.create(
      BackupStore,
      BackupStore({ name: "vault", namespace, spec: { claim: { claimName: "vault" } } }),
    );
  }

  /** The host reaches pods that have a Service. */
  async #createService(): Promise<void> {
    const spec = { selector: { "app.kubernetes.io/name": "append-log" }, ports: [{ port }] };
    await this.client.create(Service, Service({ name: "append-logs", namespace, spec }));
  }

  create<T extends KubeObject>(kind: KindRef<T>, object: T): Promise<T> {
    const placed = { ...object, metadata: { ...object.metadata, namespace } };
    return this.client.create(kind, placed as T);
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<T> {
    return this.client.get(kind, { name, namespace });
  }

  /** The object when it is so; rejects with what it is otherwise. */
  until<T extends KubeObject>(kind: KindRef<T>, name: string, isSo: (object: T) => boolean): Promise<T> {
    return vi.waitFor(
      async () => {
        const object = await this.get(kind, name);
        if (!isSo(object)) throw new Error(`${kind.kind} "${name}" is not so: ${JSON.stringify(object, undefined, 1)}`);
        return object;
      },
      { timeout: waitMsMax, interval: 200 },
    );
  }

  serving(name: string, isSo: (status: NonNullable<AppendLog["status"]>) => boolean = () => true): Promise<AppendLog> {
    return this.until(AppendLog, name, ({ status }) => status?.serving === true && isSo(status));
  }

  async backUp(name: string): Promise<Backup> {
    await this.create(Backup, Backup({ name, spec: { instance, store: "vault" } }));
    return this.until(Backup, name, ({ status }) => status?.phase === "Succeeded");
  }

  /** Into a new instance with one member, unless it goes elsewhere. Resolves when the Restore has ended. */
  async restore(name: string, target: Target | undefined, destination: Destination = newInstance(name)) {
    const spec = { instance, source: { archive: { store: "vault" } }, ...destination };
    await this.create(Restore, Restore({ name, spec: target === undefined ? spec : { ...spec, target } }));
    return this.until(Restore, name, ({ status }) => status?.phase === "Succeeded" || status?.phase === "Failed");
  }

  /** Appends to the primary, as a client. */
  async append(name: string, ...texts: readonly string[]): Promise<void> {
    for (const each of texts) {
      const mark = each.startsWith("mark ") ? { mark: each.slice(5) } : {};
      await this.#send(name, "/append", JSON.stringify({ text: each, ...mark }));
    }
  }

  async texts(name: string): Promise<readonly string[]> {
    return (await this.entries(name)).map(({ text: each }) => each);
  }

  /** The entries of a restored instance, which is deleted then. */
  async textsAtLast(name: string): Promise<readonly string[]> {
    const texts = await this.texts(name);
    await this.client.delete(AppendLog, { name, namespace });
    return texts;
  }

  async entries(name: string): Promise<readonly Entry[]> {
    return (JSON.parse(await this.#send(name, "/snapshot")) as LogData).entries;
  }

  /** The pods and the claims there are. */
  async objects(): Promise<readonly string[]> {
    const kinds = [Pod, PersistentVolumeClaim] as const;
    const lists = await Promise.all(kinds.map((kind) => this.client.listAll<KubeObject>(kind, { namespace })));
    return lists.flatMap(({ items }) => items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`)).toSorted();
  }

  /** Deletes an archived segment from the volume of the store, as nobody should. */
  loseSegment(name: string): void {
    const path = this.#find(join(this.#directory, "data"), name);
    if (path === undefined) throw new Error(`There is no segment "${name}"`);
    rmSync(path, { recursive: true });
  }

  #find(root: string, name: string): string | undefined {
    const found = readdirSync(root, { recursive: true, withFileTypes: true }).find(
      (entry) =>
        entry.name === name &&
        entry.isDirectory() &&
        entry.parentPath.endsWith("/log") &&
        entry.parentPath.includes("/orders/"),
    );
    return found === undefined || !existsSync(found.parentPath) ? undefined : join(found.parentPath, name);
  }

  /** The host reaches a pod a moment after the operator does. What was refused was not sent. */
  #send(name: string, path: string, body?: string): Promise<string> {
    return vi.waitFor(
      async () => {
        const { status } = await this.serving(name);
        return exchange(`http://${mirrorOnLoopback(status?.podIP ?? "")}:${port}${path}`, body);
      },
      { timeout: waitMsMax, interval: 100 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

function exchange(url: string, body: string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body === undefined ? "GET" : "POST", agent: false }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(answer);
        else reject(new Error(`${url}: ${response.statusCode} ${answer}`));
      }, reject);
    });
    sent.on("error", reject).end(body);
  });
}
