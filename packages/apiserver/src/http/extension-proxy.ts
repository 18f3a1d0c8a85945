/** Sends requests on to extension servers (aggregated APIs), as the front proxy that they trust. */
import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { connect as connectTls } from "node:tls";
import type { Duplex } from "node:stream";
import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  deepFreeze,
  failure,
  messageOf,
  type UserInfo,
  type WatchFrame,
} from "@setpoint/apimachinery";
import type { ExtensionService } from "../aggregation/extension-service.ts";
import { forwardedRequest } from "../aggregation/forwarded-request.ts";
import { booleanParameter } from "../request/query-parameters.ts";
import type { ResolveService } from "../webhook/service-endpoint.ts";
import type { ConnectToPod } from "./webhook-caller.ts";

/** How extension servers are reached, and the certificate that they know the front proxy by. */
export interface ExtensionProxyOptions {
  readonly resolveService: ResolveService;
  readonly connectToPod?: ConnectToPod;
  /** PEM of the client certificate whose authority and name the cluster announces. */
  readonly cert: string;
  readonly key: string;
}

/** Answers a request by the extension server of its group and version. */
export type ForwardToExtension = (
  extension: ExtensionService,
  request: ApiRequest,
  user: UserInfo,
  signal: AbortSignal,
) => Promise<ApiResponse>;

/** An answer that is one object is held in memory; more than this is refused. */
const answerBytesMax = 64 * 1024 * 1024;
const droppedHeaders: ReadonlySet<string> = new Set(["connection", "transfer-encoding", "content-length", "date"]);

export function createExtensionProxy(options: ExtensionProxyOptions): ForwardToExtension {
  return async (extension, request, user, signal) => {
    const message = await send(options, extension, { request, user, signal }).catch((error: unknown) => {
      if (signal.aborted) throw signal.reason;
      throw new ApiError(failure(503, "ServiceUnavailable", `error trying to reach service: ${messageOf(error)}`), {
        cause: error,
      });
    });
    return readAnswer(message, isWatch(request));
  };
}

interface Sent {
  readonly request: ApiRequest;
  readonly user: UserInfo;
  readonly signal: AbortSignal;
}

async function send(
  options: ExtensionProxyOptions,
  extension: ExtensionService,
  { request, user, signal }: Sent,
): Promise<IncomingMessage> {
  const { service } = extension;
  const { address, port } = options.resolveService(service);
  const { path, headers, body } = forwardedRequest(request, user);
  const servername = `${service.name}.${service.namespace}.svc`;
  const trust = {
    servername,
    cert: options.cert,
    key: options.key,
    ...(extension.caBundle === "" ? {} : { ca: Buffer.from(extension.caBundle, "base64").toString() }),
    rejectUnauthorized: !extension.insecure,
    allowPartialTrustChain: true,
  };
  const socket = await options.connectToPod?.(address, port);
  // An agent of any kind would make a connection of its own, past the network of pods.
  const connection: object =
    socket === undefined ? { agent: false } : { createConnection: (): Duplex => connectTls({ ...trust, socket }) };
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    const sent = requestHttps({
      method: request.method,
      host: address,
      port,
      path,
      signal,
      headers: { ...headers, ...length, host: servername } as Record<string, string | string[]>,
      ...trust,
      ...connection,
    });
    sent.once("response", resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

function isWatch({ path, query }: ApiRequest): boolean {
  return booleanParameter(query, "watch") || path.includes("/watch/");
}

/** JSON becomes an object or frames, so that clients in this process can read it; the rest stays bytes. */
async function readAnswer(message: IncomingMessage, asksForWatch: boolean): Promise<ApiResponse> {
  const status = message.statusCode ?? 502;
  const headers = Object.fromEntries(
    Object.entries(message.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined || droppedHeaders.has(name) ? [] : [[name, [value].flat().join(", ")]],
    ),
  );
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  if (type !== "application/json") return { kind: "bytes", status, headers, bytes: message };
  if (asksForWatch && status === 200) return { kind: "watch", status, headers, frames: readFrames(message) };
  return { kind: "object", status, headers, object: deepFreeze(JSON.parse(await readText(message))) };
}

async function readText(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > answerBytesMax)
      throw new Error(`the answer of the extension server has more than ${answerBytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

async function* readFrames(message: IncomingMessage): AsyncGenerator<WatchFrame> {
  let rest = "";
  for await (const part of message.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    // Each line is a frame by the protocol.
    for (const line of lines) if (line !== "") yield deepFreeze(JSON.parse(line) as WatchFrame);
  }
}
