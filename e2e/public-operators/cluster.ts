/** A cluster as `setpoint up` starts it, with the images of a public operator loaded, and kubectl for it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "@setpoint/cli";
import type { ImageSource } from "@setpoint/process-node";
import { loadMadeImages } from "../images/made-images.ts";
import { Kubectl } from "../kubectl/kubectl.ts";
import { toolsFolder } from "./tools-folder.ts";

/** The latest events are enough to see why a wait did not end. */
const eventsLengthMax = 4_000;
const loadMsMax = 600_000;

export class PublicCluster implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly kubectl: Kubectl;

  constructor(parts: AsyncDisposableStack, kubectl: Kubectl) {
    this.#parts.use(parts);
    this.kubectl = kubectl;
  }

  /** Waits as `kubectl wait` does; an error has the pods and the latest events of the namespace. */
  async wait(what: string, seconds: number, namespace = "default"): Promise<void> {
    const { code, stderr } = await this.kubectl.run(`wait ${what} --timeout=${seconds}s -n ${namespace}`, [], {
      timeoutMs: (seconds + 10) * 1_000,
    });
    if (code !== 0) throw new Error(`Cannot wait for ${what}: ${stderr}${await this.#state(namespace)}`);
  }

  async helm(command: string): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl.helm(command, 300_000);
    if (code !== 0) throw new Error(`Cannot run helm ${command}: ${stderr}${stdout}`);
    return stdout;
  }

  async #state(namespace: string): Promise<string> {
    const pods = await this.kubectl.ok(`get pods -o wide -n ${namespace}`);
    const events = await this.kubectl.ok(`events -n ${namespace}`);
    return `\n${pods}\n${events.slice(-eventsLengthMax)}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

export type Images = Readonly<Record<string, ImageSource>>;

/** Images are made once; `imagesOf` may write files that are laid into them to the folder that it gets. */
export async function startPublicCluster(imagesOf: (folder: string) => Images, nodes = 1): Promise<PublicCluster> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-public-"));
  try {
    await loadMadeImages(imagesOf(folder), join(toolsFolder(), "images.json"), AbortSignal.timeout(loadMsMax));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await using parts = new AsyncDisposableStack();
  const cluster = parts.use(await startCluster({ directory: undefined, port: 0, nodes, say: () => {} }));
  const kubectl = parts.use(new Kubectl(cluster.kubeconfig));
  return new PublicCluster(parts.move(), kubectl);
}
