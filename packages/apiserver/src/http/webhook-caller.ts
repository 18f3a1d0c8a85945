/** Calls webhooks over HTTPS. */
import { encodeJson, lookupTable } from "@setpoint/apimachinery";
import { Agent, request } from "node:https";
import type { Duplex } from "node:stream";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import type { IncomingMessage } from "node:http";
import { isIP, Socket } from "node:net";
import type { ResolveService } from "../webhook/service-endpoint.ts";
import type { WebhookAnswer, WebhookCall, WebhookCaller } from "../webhook/webhook-caller.ts";

/** How the caller resolves Services and reaches pods. */
export interface HttpsWebhookCallerOptions {
  readonly resolveService: ResolveService;
  /** A connection to a pod; undefined for an address that this process reaches by itself. */
  readonly connectToPod?: ConnectToPod;
}

/**
 * Opens a connection to a pod's address; undefined for an address that is no pod's, which the caller dials
 * directly.
 */
export type ConnectToPod = (address: string, port: number) => Promise<Duplex> | undefined;

/** A review's answer holds at most the patch of one object or the objects of one conversion. */
export const webhookAnswerBytesMax: number = 64 * 1024 * 1024;
/** Connections kept open, by authority and target; the oldest is evicted first. */
const agentsMax = 64;
const socketsPerWebhookMax = 32;
/**
 * As Go verifies: a certificate of the bundle is trusted as it is, whether it is an authority or not. Some
 * operators put the webhook's own certificate there.
 */
const allowPartialTrustChain = true;

/** A webhook caller that keeps its connections open; disposing it closes them. */
export interface HttpsWebhookCaller extends WebhookCaller, Disposable {}

/**
 * Calls webhooks over HTTPS. It verifies their certificate against the configuration's `caBundle`, or without
 * one against Node's own list of authorities.
 */
export function httpsWebhookCaller({ resolveService, connectToPod }: HttpsWebhookCallerOptions): HttpsWebhookCaller {
  const agents = new Map<string, Agent>();
  const agentFor = (call: WebhookCall, servername: string): Agent => {
    const { caBundle = "" } = call.config;
    const key = `${servername} ${caBundle}`;
    const known = agents.get(key);
    if (known !== undefined) return known;
    const ca = caBundle === "" ? {} : { ca: Buffer.from(caBundle, "base64").toString("utf8") };
    const trust = { servername, ...ca, allowPartialTrustChain };
    const agent = new PodAgent(connectToPod, { keepAlive: true, maxSockets: socketsPerWebhookMax, ...trust });
    agents.set(key, agent);
    dropOldest(agents);
    return agent;
  };
  return {
    async call(call, signal) {
      const url = new URL(call.url);
      const { service } = call.config;
      const host = url.hostname.replace(/^\[|\]$/g, "");
      const port = url.port === "" ? 443 : Number(url.port);
      const target =
        service === undefined ? { address: host, port } : resolveService({ ...service, port: service.port ?? 443 });
      const agent = agentFor(call, isIP(host) === 0 ? host : "");
      const body = encodeJson(call.body);
      try {
        return await post(url, target, agent, body, signal);
      } catch (error) {
        // The webhook closed an idle connection in the moment in which it was used again: nothing was read of
        // the call.
        if (!(error instanceof StaleConnection)) throw error;
        return await post(url, target, agent, body, signal);
      }
    },
    [Symbol.dispose]() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

type OnConnection = (error: Error | null, socket: Duplex) => void;

/** Its connections to pods go through the pod network. */
class PodAgent extends Agent {
  readonly #connectToPod: ConnectToPod | undefined;

  constructor(connectToPod: ConnectToPod | undefined, options: ConstructorParameters<typeof Agent>[0]) {
    super(options);
    this.#connectToPod = connectToPod;
  }

  override createConnection(options: ConnectionOptions, callback?: OnConnection): Duplex | null | undefined {
    const opening = this.#connectToPod?.(options.host ?? "", options.port ?? 443);
    if (opening === undefined) return super.createConnection(options, callback);
    void secure(opening, options, callback);
    return undefined;
  }
}

async function secure(opening: Promise<Duplex>, options: ConnectionOptions, callback?: OnConnection): Promise<void> {
  try {
    callback?.(null, connectTls({ ...options, socket: await opening }));
  } catch (error) {
    callback?.(error as Error, new Socket());
  }
}

function dropOldest(agents: Map<string, Agent>): void {
  const [oldest] = agents;
  if (agents.size <= agentsMax || oldest === undefined) return;
  agents.delete(oldest[0]);
  // Calls in flight finish on their sockets; idle sockets are closed.
  oldest[1].destroy();
}

class StaleConnection extends Error {}

interface Target {
  readonly address: string;
  readonly port: number;
}

function post(url: URL, target: Target, agent: Agent, body: string, signal: AbortSignal): Promise<WebhookAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WebhookAnswer>();
  const sent = request(
    {
      method: "POST",
      host: target.address,
      port: target.port,
      path: `${url.pathname}${url.search}`,
      agent,
      signal,
      headers: {
        host: url.host,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        accept: "application/json, */*",
        "user-agent": "kube-apiserver-admission",
      },
    },
    (message) => {
      readAnswer(message).then(resolve, reject);
    },
  );
  sent.on("error", (error: NodeJS.ErrnoException) => {
    const isStale = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
    const said = inWordsOfGo(error, target, url.hostname);
    reject(isStale ? new StaleConnection(said.message, { cause: error }) : said);
  });
  sent.end(body);
  return promise;
}

async function readAnswer(message: IncomingMessage): Promise<WebhookAnswer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > webhookAnswerBytesMax) {
      message.destroy();
      throw new Error(`the answer is larger than ${webhookAnswerBytesMax} bytes`);
    }
    parts.push(part);
  }
  return { status: message.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") };
}

const unknownAuthority = "x509: certificate signed by unknown authority";

const tlsReasons: Readonly<Record<string, string>> = lookupTable({
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: "x509: certificate has expired or is not yet valid",
  CERT_NOT_YET_VALID: "x509: certificate has expired or is not yet valid",
});

/** How Node begins the message about a certificate for other names. */
const wrongName = "Hostname/IP does not match";

/** Users know these sentences from kube-apiserver and search for them. */
function inWordsOfGo(error: NodeJS.ErrnoException, { address, port }: Target, hostname: string): Error {
  return new Error(reasonOf(error, `dial tcp ${address}:${port}`, hostname), { cause: error });
}

function reasonOf(error: NodeJS.ErrnoException, dial: string, hostname: string): string {
  const { code = "", message } = error;
  const tls = tlsReasons[code];
  if (tls !== undefined) return `tls: failed to verify certificate: ${tls}`;
  if (message.startsWith(wrongName)) {
    return `tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match ${hostname}`;
  }
  switch (code) {
    case "ECONNREFUSED":
      return `${dial}: connect: connection refused`;
    case "EHOSTUNREACH":
      return `${dial}: connect: no route to host`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${hostname}: no such host`;
    case "ECONNRESET":
      return "EOF";
    default:
      return message;
  }
}
