/** A cluster in memory with an image of tools, and the few requests that tests of pods make. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "@setpoint/cli";
import { type KubeObject, isNotFound, type NamespacedName } from "@setpoint/apimachinery";
import { type Client, createClient, type KindRef } from "@setpoint/client";
import { execInPod, type HttpConnection, httpTransport, resolveConnection } from "@setpoint/client/node";
import { sleep } from "@setpoint/host";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { parseAllDocuments } from "yaml";
import { perlImage, perlImageSource, toolsImage, toolsImageSource } from "./tools-image.ts";

/** Why pods cannot run on this machine; empty when they can. */
export function missingForPods(): string {
  const missing = ["crun", "conmon", "mmdebstrap", "nsenter"].filter(
    (tool) => spawnSync(tool, ["--version"]).error !== undefined,
  );
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`;
  return process.getuid?.() === 0 ? "" : "not root: Services below port 1024 and DNS cannot listen";
}

/** The part of a Pod that tests look at. */
export interface PodView extends KubeObject {
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly hostIP?: string;
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly containerStatuses: readonly ContainerView[];
    readonly initContainerStatuses?: readonly ContainerView[];
  };
  readonly spec: { readonly nodeName: string };
}

export interface ContainerView {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state: StateView;
  readonly lastState: StateView;
}

interface StateView {
  readonly running?: object;
  readonly waiting?: { readonly reason: string; readonly message: string };
  readonly terminated?: { readonly exitCode: number; readonly reason: string; readonly message?: string };
}

const kinds: Readonly<Record<string, KindRef>> = Object.fromEntries(
  (
    [
      ["", "Pod", "pods", true],
      ["", "Service", "services", true],
      ["", "ConfigMap", "configmaps", true],
      ["", "Secret", "secrets", true],
      ["", "PersistentVolumeClaim", "persistentvolumeclaims", true],
      ["", "PersistentVolume", "persistentvolumes", false],
      ["", "Node", "nodes", false],
      ["", "Event", "events", true],
      ["discovery.k8s.io", "EndpointSlice", "endpointslices", true],
      ["networking.k8s.io", "NetworkPolicy", "networkpolicies", true],
    ] as const
  ).map(([group, kind, plural, namespaced]) => [kind, { group, version: "v1", kind, plural, namespaced }]),
);

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class TestCluster implements AsyncDisposable {
  readonly client: Client;
  readonly connection: HttpConnection;
  readonly #parts: AsyncDisposableStack;

  private constructor(client: Client, connection: HttpConnection, parts: AsyncDisposableStack) {
    this.client = client;
    this.connection = connection;
    this.#parts = parts;
  }

  /** In memory, or with its state in `directory`. */
  static async start(nodes: number, directory?: string): Promise<TestCluster> {
    await using parts = new AsyncDisposableStack();
    const localImages = { [toolsImage]: toolsImageSource, [perlImage]: perlImageSource };
    const cluster = parts.use(await startCluster({ directory, port: 0, nodes, localImages, say: () => {} }));
    const client = createClient(cluster.transport, { clock: systemClock, random: cluster.host.random });
    return new TestCluster(client, connectionOf(cluster.kubeconfig, parts), parts.move());
  }

  /** One that runs already, in a process of its own. */
  static connect(kubeconfig: string): TestCluster {
    const parts = new AsyncDisposableStack();
    const connection = connectionOf(kubeconfig, parts);
    const transport = parts.use(httpTransport(connection));
    return new TestCluster(createClient(transport, { clock: systemClock, random: systemRandom }), connection, parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }

  /** Objects as YAML documents; without a namespace of their own they belong to `default`. */
  async apply(manifests: string): Promise<void> {
    for (const document of parseAllDocuments(manifests)) {
      const object = document.toJS() as KubeObject;
      const metadata = { namespace: "default", ...object.metadata };
      await this.client.apply(kindOf(object.kind), { ...object, metadata }, { fieldManager: "test", force: true });
    }
  }

  async get<T extends KubeObject>(kind: string, name: string): Promise<T | undefined> {
    const key: NamespacedName = { namespace: "default", name };
    try {
      return (await this.client.get(kindOf(kind), key)) as unknown as T;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async delete(kind: string, name: string): Promise<void> {
    await this.client.delete(kindOf(kind), { namespace: "default", name });
  }

  async events(name: string): Promise<readonly string[]> {
    const { items } = await this.client.listAll(kindOf("Event"), { namespace: "default" });
    const events = items as unknown as readonly { involvedObject: { name: string }; reason: string; message: string }[];
    return events
      .filter((event) => event.involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** The pod, as soon as it is as wanted. */
  pod(name: string, wanted: (pod: PodView) => boolean, limitSeconds = 20): Promise<PodView> {
    return until(`pod ${name} ${wanted.toString()}`, limitSeconds, async () => {
      const pod = await this.get<PodView>("Pod", name);
      return pod !== undefined && pod.status.containerStatuses !== undefined && wanted(pod) ? pod : undefined;
    });
  }

  async exec(pod: string, command: readonly string[], stdin?: string, container?: string): Promise<CommandResult> {
    const output = { stdout: "", stderr: "" };
    const collect = (stream: "stdout" | "stderr") => (chunk: Uint8Array) =>
      void (output[stream] += Buffer.from(chunk).toString());
    const { exitCode } = await execInPod({
      connection: this.connection,
      namespace: "default",
      pod,
      command,
      ...(container === undefined ? {} : { container }),
      ...(stdin === undefined ? {} : { stdin: once(stdin) }),
      stdout: collect("stdout"),
      stderr: collect("stderr"),
    });
    return { exitCode, ...output };
  }

  /** The log as it is, or, with `follow`, until the signal. */
  async logs(
    pod: string,
    query: Readonly<Record<string, string>> = {},
    onText?: (text: string) => void,
  ): Promise<string> {
    const path = `/api/v1/namespaces/default/pods/${pod}/log`;
    const response = await this.client.request({ method: "GET", path, query });
    if (response.kind !== "bytes") throw new Error(`the log of ${pod} is ${response.kind}`);
    let text = "";
    for await (const chunk of response.bytes) {
      text += Buffer.from(chunk).toString();
      onText?.(text);
    }
    return text;
  }
}

function connectionOf(kubeconfig: string, parts: AsyncDisposableStack): HttpConnection {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-test-"));
  parts.defer(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "kubeconfig"), kubeconfig);
  return resolveConnection({ clock: systemClock, kubeconfig: join(folder, "kubeconfig") }).connection;
}

export async function until<T>(what: string, limitSeconds: number, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = systemClock.monotonic() + limitSeconds * 1_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (systemClock.monotonic() > deadline) throw new Error(`Waited ${limitSeconds} s in vain: ${what}`);
    await sleep(systemClock, 100);
  }
}

export function isReady({ status }: PodView): boolean {
  return status.conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
}

function kindOf(kind: string): KindRef {
  const found = kinds[kind];
  if (found === undefined) throw new Error(`tests do not know kind ${kind}`);
  return found;
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
