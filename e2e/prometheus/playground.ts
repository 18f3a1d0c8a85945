/** An embedded cluster with the operator for Prometheus, and a client inside of it. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "@setpoint/cli";
import type { ImageSource } from "@setpoint/process-node";
import { loadMadeImages } from "../images/made-images.ts";
import { Kubectl } from "../kubectl/kubectl.ts";

const manifests = new URL("../../operators/prometheus/manifests/install.yaml", import.meta.url).pathname;
const upstream = new URL("fixtures/", import.meta.url).pathname;
const applicationImage = "quay.io/brancz/prometheus-example-app:v0.5.0";
/** A web server whose scripts are those of its folder `/www/cgi-bin`. */
export const scriptImage = "setpoint.invalid/alert-receiver:2";
const loadMsMax = 600_000;
const eventsLengthMax = 4_000;

/** The application's own program is in no registry of packages: a page with a metric stands for it. */
function application(folder: string): ImageSource {
  const page = join(folder, "metrics");
  writeFileSync(page, '# TYPE version gauge\nversion{version="v0.5.0"} 1\n');
  return {
    closure: { suite: "bookworm", packages: ["busybox-static"] },
    files: [{ from: page, to: "/www/metrics" }],
    command: ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/www"],
  };
}

/** Keeps each body that is posted to `/cgi-bin/alerts`, one a line, and serves them as `/kept/alerts`. */
function receiver(folder: string): ImageSource {
  const script = join(folder, "alerts");
  writeFileSync(
    script,
    "#!/bin/sh\n(cat; echo) >> /www/kept/alerts\nprintf 'Content-Type: text/plain\\r\\n\\r\\nok\\n'\n",
  );
  chmodSync(script, 0o755);
  return {
    closure: { suite: "bookworm", packages: ["busybox-static"] },
    files: [{ from: script, to: "/www/cgi-bin/alerts" }],
    links: { "/bin/sh": "/bin/busybox", "/bin/cat": "/bin/busybox" },
    command: ["/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/www"],
  };
}

async function loadImages(more: Readonly<Record<string, ImageSource>>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-prometheus-"));
  const record = join(tmpdir(), "setpoint-e2e-prometheus");
  mkdirSync(record, { recursive: true });
  try {
    const images = { [applicationImage]: application(folder), [scriptImage]: receiver(folder), ...more };
    await loadMadeImages(images, join(record, "images.json"), AbortSignal.timeout(loadMsMax));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface QueryAnswer {
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

export class PrometheusPlayground implements AsyncDisposable {
  readonly kubectl: Kubectl;
  readonly #parts: AsyncDisposableStack;

  private constructor(kubectl: Kubectl, parts: AsyncDisposableStack) {
    this.kubectl = kubectl;
    this.#parts = parts;
  }

  /** `more` are images that only one file of tests needs. */
  static async open(more: Readonly<Record<string, ImageSource>> = {}): Promise<PrometheusPlayground> {
    await loadImages(more);
    await using parts = new AsyncDisposableStack();
    const cluster = parts.use(await startCluster({ directory: undefined, port: 0, nodes: 1, say: console.log }));
    const kubectl = parts.use(new Kubectl(cluster.kubeconfig));
    await kubectl.ok(`apply --server-side -f ${manifests}`);
    const playground = new PrometheusPlayground(kubectl, parts.move());
    await playground.wait("--for=condition=Available deployment/prometheus-operator -n setpoint-system", 120);
    await kubectl.ok("run client --image=busybox --command -- sleep infinity");
    await playground.wait("--for=condition=Ready pod/client", 60);
    return playground;
  }

  /** Manifests of upstream, by the names of their files. */
  async applyUpstream(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.kubectl.ok(`apply -f ${upstream}${name}.yaml`);
  }

  async apply(manifest: object): Promise<void> {
    await this.kubectl.ok("apply -f -", [], { input: JSON.stringify(manifest) });
  }

  /** A pod and a Service `receiver`, which keeps what is posted to it. */
  async startReceiver(): Promise<void> {
    const kept = { name: "kept", mountPath: "/www/kept" };
    const spec = {
      containers: [{ name: "receiver", image: scriptImage, volumeMounts: [kept] }],
      volumes: [{ name: "kept", emptyDir: {} }],
    };
    const metadata = { name: "receiver", labels: { run: "receiver" } };
    await this.apply({ apiVersion: "v1", kind: "Pod", metadata, spec });
    await this.kubectl.ok("expose pod receiver --port=8080");
    await this.wait("--for=condition=Ready pod/receiver", 120);
  }

  /** Waits as `kubectl wait` does; an error has the pods and the latest events. */
  async wait(what: string, seconds: number): Promise<void> {
    const timeoutMs = (seconds + 10) * 1_000;
    const { code, stderr } = await this.kubectl.run(`wait ${what} --timeout=${seconds}s`, [], { timeoutMs });
    if (code !== 0) throw new Error(`Cannot wait for ${what}: ${stderr}${await this.state()}`);
  }

  async state(): Promise<string> {
    const pods = await this.kubectl.ok("get pods -A -o wide");
    const prometheuses = await this.kubectl.ok("get prometheus -A -o yaml");
    const events = await this.kubectl.ok("events -A");
    return `\n${pods}\n${prometheuses.slice(-eventsLengthMax)}\n${events.slice(-eventsLengthMax)}`;
  }

  /** The value of the first sample; undefined while there is none. */
  async query(expression: string): Promise<string | undefined> {
    const answer = await this.get(`api/v1/query?query=${encodeURIComponent(expression)}`);
    return answer === "" ? undefined : (JSON.parse(answer) as QueryAnswer).data.result[0]?.value[1];
  }

  /** A page of Prometheus; empty when it does not answer. */
  async get(path: string): Promise<string> {
    return this.fetch(`http://prometheus-operated:9090/${path}`);
  }

  /** What a server inside of the cluster answers; empty when it does not. */
  async fetch(url: string): Promise<string> {
    const { stdout } = await this.kubectl.run("exec client -- wget -q -O-", [url]);
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
