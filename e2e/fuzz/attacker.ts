/** A worker that sends seeded requests, several at a time, and reports answers that must not be. */
import { Agent, request } from "node:https";
import { connect } from "node:tls";
import { parentPort, workerData } from "node:worker_threads";
import { seededRandom } from "@setpoint/host/simulated";
import type { Random } from "@setpoint/host";
import { type FuzzRequest, fuzzRequest } from "./requests.ts";
import { pick } from "./values.ts";

export interface AttackerInput {
  readonly url: string;
  readonly ca: string;
  /** Bearer tokens to choose from; the empty one is anonymous. */
  readonly tokens: readonly string[];
  readonly seed: number;
  readonly requests: number;
  readonly concurrency: number;
}

/** What a worker reports: how many answers of each status, and every answer that breaks the rules. */
export type AttackerMessage =
  | { readonly kind: "progress"; readonly done: number; readonly statuses: Readonly<Record<string, number>> }
  | { readonly kind: "violation"; readonly seed: number; readonly request: string; readonly answer: string };

const input = workerData as AttackerInput;
const url = new URL(input.url);
const agent = new Agent({ keepAlive: true, maxSockets: input.concurrency, ca: input.ca });
const answerMsMax = 60_000;
const reportEvery = 1_000;
const statuses: Record<string, number> = {};
let next = 0;
let done = 0;

function report(message: AttackerMessage): void {
  parentPort?.postMessage(message);
}

function violation(seed: number, sent: FuzzRequest, answer: string): void {
  const text = Buffer.from(sent.body ?? []).toString("latin1");
  const shown = `${sent.method} ${sent.path.slice(0, 300)} ${JSON.stringify(sent.headers).slice(0, 400)} ${text.slice(0, 1_500)}`;
  report({ kind: "violation", seed, request: shown, answer: answer.slice(0, 600) });
}

async function one(seed: number): Promise<void> {
  const random = seededRandom(seed);
  if (random.int(200) === 0) return abusedStream(random);
  const sent = fuzzRequest(random);
  const token = pick(random, input.tokens);
  try {
    const { status, text } = await send(sent, token);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status >= 500 && !isUpstreams(sent, status, text)) violation(seed, sent, `${status} ${text}`);
  } catch (error) {
    const code = String((error as { code?: unknown }).code ?? error);
    statuses[code] = (statuses[code] ?? 0) + 1;
    if (code === "ERR_NO_ANSWER") violation(seed, sent, `no answer within ${answerMsMax} ms`);
  }
}

/**
 * Answers of 500 and above that kube-apiserver gives, too: to a time limit, to what is not there to be
 * proxied, to a patch of wrong types, to a resourceVersion in a create, to an object beyond etcd's limit.
 */
function isUpstreams({ path }: FuzzRequest, status: number, text: string): boolean {
  if (status === 504) return path.includes("timeout=") || text.includes("Too large resource version");
  if (status === 503) return path.includes("/proxy");
  return (
    text.includes("failed to create typed patch object") ||
    text.includes("etcdserver: request is too large") ||
    text.includes("resourceVersion should not be set on objects to be created")
  );
}

function send(sent: FuzzRequest, token: string): Promise<{ status: number; text: string }> {
  const authorization: Record<string, string> = token === "" ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const options = {
      host: url.hostname,
      port: url.port,
      agent,
      method: sent.method,
      path: sent.path,
      headers: { ...authorization, ...sent.headers, "content-length": String(sent.body?.length ?? 0) },
      timeout: answerMsMax,
    };
    const outgoing = request(options, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => {
        if (text.length < 1_000) text += chunk.toString("latin1");
      });
      answer.once("error", reject);
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    outgoing.once("error", reject);
    outgoing.once("timeout", () => outgoing.destroy(Object.assign(new Error("no answer"), { code: "ERR_NO_ANSWER" })));
    outgoing.end(sent.body);
  });
}

const openings: readonly string[] = [
  "GET /",
  "GET / HTTP/9.9\r\n\r\n",
  "\r\n\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  `GET /${"a".repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  "POST /api/v1/namespaces/fuzz/configmaps HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n{",
  "POST /api/v1/namespaces/fuzz/configmaps HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n",
  "POST /api/v1/namespaces/fuzz/configmaps HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "GET /api/v1/pods?watch=1 HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
  "GET /api/v1/namespaces/fuzz/pods/x/exec HTTP/1.1\r\nhost: x\r\nupgrade: SPDY/3.1\r\nconnection: upgrade\r\n\r\n\x80\x03\x00\x01",
  "OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n",
  "CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n",
];

/** A connection whose bytes break the protocol, or that is cut in the middle. */
function abusedStream(random: Random): Promise<void> {
  return new Promise((resolve) => {
    const protocol = random.int(3) === 0 ? ["h2"] : ["http/1.1"];
    const socket = connect({ host: url.hostname, port: Number(url.port), ca: input.ca, ALPNProtocols: protocol });
    const end = (): void => void socket.destroy();
    socket.setTimeout(300, end);
    socket.once("close", () => resolve());
    socket.on("error", end);
    socket.on("data", () => {});
    socket.once("secureConnect", () => {
      socket.write(
        protocol[0] === "h2" ? Buffer.from(random.bytes(1 + random.int(300))) : pick(random, openings),
        "latin1",
      );
      if (random.int(2) === 0) end();
    });
  });
}

async function loop(): Promise<void> {
  while (next < input.requests) {
    const seed = input.seed + next;
    next++;
    await one(seed);
    done++;
    if (done % reportEvery === 0) report({ kind: "progress", done, statuses: { ...statuses } });
  }
}

await Promise.all(Array.from({ length: input.concurrency }, loop));
agent.destroy();
report({ kind: "progress", done, statuses });
