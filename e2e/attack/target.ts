/**
 * `setpoint up` as a process of its own, which an attack may end or freeze without ending the test, and what
 * attackers and bystanders need to talk to it. For attacks from inside a pod take `../node/test-cluster.ts`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock, systemHost } from "@setpoint/host/system";
import { type Client, createClient } from "@setpoint/client";
import { type HttpConnection, type HttpTransport, httpTransport, resolveConnection } from "@setpoint/client/node";

const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const startMsMax = 60_000;

export interface TargetOptions {
  /** `--max-old-space-size` of the server's process. */
  readonly heapMb?: number;
  /** Keeps state there; in memory otherwise. */
  readonly directory?: string;
  readonly flags?: readonly string[];
  /**
   * A command that runs the server's command, given after it: `unshare`, `prlimit`. It must become the
   * server, not its parent.
   */
  readonly within?: readonly string[];
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** A bearer token; "admin" sends the administrator's client certificate; nobody by default. */
  readonly as?: string;
  readonly timeoutMs?: number;
}

export class Target implements AsyncDisposable {
  readonly url: URL;
  readonly kubeconfig: string;
  readonly connection: HttpConnection;
  readonly process: ChildProcess;
  readonly #transport: HttpTransport;
  readonly #output: { text: string };
  readonly #parts: AsyncDisposableStack;

  private constructor(child: ChildProcess, output: { text: string }, kubeconfig: string, parts: AsyncDisposableStack) {
    this.process = child;
    this.#output = output;
    this.kubeconfig = kubeconfig;
    this.connection = resolveConnection({ clock: systemClock, kubeconfig }).connection;
    this.url = new URL(this.connection.server);
    this.#transport = parts.use(httpTransport({ ...this.connection, clock: systemClock, userAgent: "admin" }));
    this.#parts = parts;
  }

  static async start(options: TargetOptions = {}): Promise<Target> {
    await using parts = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "setpoint-attack-"));
    parts.defer(() => rmSync(folder, { recursive: true, force: true }));
    const kubeconfig = join(folder, "kubeconfig");
    const heap = options.heapMb === undefined ? [] : [`--max-old-space-size=${options.heapMb}`];
    const state = options.directory === undefined ? ["--in-memory"] : ["--data-dir", options.directory];
    const flags = ["up", ...state, "--kubeconfig", kubeconfig, ...(options.flags ?? [])];
    const program = [process.execPath, ...heap, "--conditions=@setpoint/source", bin, ...flags];
    const [command = "", ...args] = [...(options.within ?? []), ...program];
    const child = spawn(command, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { text: "" };
    // Not "close": agents that outlive a killed server keep its output open.
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    parts.defer(async () => {
      child.kill("SIGINT");
      if (await Promise.race([ended.then(() => true), delay(20_000, false)])) return;
      child.kill("SIGKILL");
      await ended;
    });
    const ready = new Promise<boolean>((resolve) => {
      const collect = (chunk: Buffer): void => {
        output.text += chunk.toString();
        if (output.text.includes("Ready: ")) resolve(true);
      };
      child.stdout.on("data", collect);
      child.stderr.on("data", collect);
    });
    const serves = await Promise.race([ready, ended.then(() => false), delay(startMsMax, false)]);
    if (!serves) throw new Error(`setpoint up did not start:\n${output.text}`);
    const owned = parts.move();
    return new Target(child, output, kubeconfig, owned);
  }

  /** Everything the process has printed. */
  get output(): string {
    return this.#output.text;
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** The administrator's client. */
  get admin(): Client {
    return createClient(this.#transport, { clock: systemClock, random: systemHost().random });
  }

  /** Resident memory of the server's process, in bytes. */
  residentBytes(): number {
    const status = readFileSync(`/proc/${this.process.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
  }

  /** One HTTP/1.1 request on a connection of its own, sent as it stands. */
  raw({ method = "GET", path, headers = {}, body, as, timeoutMs = 10_000 }: RawRequest): Promise<RawAnswer> {
    const { ca, cert, key } = this.connection;
    const identity = as === "admin" ? { cert, key } : {};
    const token = as === undefined || as === "admin" ? {} : { authorization: `Bearer ${as}` };
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: this.url.hostname,
          port: this.url.port,
          method,
          path,
          ca,
          ...identity,
          headers: { ...token, ...headers },
          agent: false,
          timeout: timeoutMs,
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on("data", (chunk: Buffer) => chunks.push(chunk));
          answer.once("error", reject);
          answer.once("end", () =>
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              body: Buffer.concat(chunks).toString(),
            }),
          );
        },
      );
      sent.once("error", reject);
      sent.once("timeout", () => sent.destroy(new Error(`no answer to ${method} ${path} within ${timeoutMs} ms`)));
      sent.end(body);
    });
  }

  /** A bystander that reads one small object every `periodMs` until it is disposed. */
  bystander(periodMs = 50): Bystander {
    return new Bystander(this, periodMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

/** Measures how long another client of the server waits. */
export class Bystander implements AsyncDisposable {
  readonly latenciesMs: number[] = [];
  readonly failures: string[] = [];
  #isOver = false;
  readonly #loop: Promise<void>;

  constructor(target: Target, periodMs: number) {
    this.#loop = this.#run(target, periodMs);
  }

  /** The q-quantile of the latencies so far, in ms. */
  quantile(q: number): number {
    const sorted = this.latenciesMs.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
  }

  get worstMs(): number {
    return Math.max(0, ...this.latenciesMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#loop;
  }

  async #run(target: Target, periodMs: number): Promise<void> {
    while (!this.#isOver) {
      const startMs = performance.now();
      try {
        const { status } = await target.raw({ path: "/api/v1/namespaces/default", as: "admin", timeoutMs: 60_000 });
        if (status !== 200) this.failures.push(`status ${status}`);
      } catch (error) {
        this.failures.push(String(error));
      }
      this.latenciesMs.push(performance.now() - startMs);
      await delay(periodMs);
    }
  }
}
