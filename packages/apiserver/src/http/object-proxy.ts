/**
 * `pods/proxy`, `services/proxy` and `nodes/proxy`: passes requests on to a program in a pod, or to the agent
 * of a node, and its answers back.
 */
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect as connectTcp } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { ApiError, type ApiRequest, type ApiResponse, failure, messageOf } from "@setpoint/apimachinery";
import type { Endpoint, EndpointRequest, EndpointTable } from "../registry/endpoint.ts";
import type { ObjectReader } from "../registry/object-reader.ts";
import { rewriteHtml, rewriteLocation } from "./proxy-links.ts";
import { type ProxyTarget, proxyTarget } from "./proxy-target.ts";
import type { AgentHost } from "./node-address.ts";
import type { ConnectToPod } from "./webhook-caller.ts";

/** How the proxy reaches pods and the agents of nodes. */
export interface ObjectProxyOptions {
  readonly reader: ObjectReader;
  readonly connectToPod?: ConnectToPod | undefined;
  readonly hostOf?: AgentHost | undefined;
  /** For the agents: their authority, and as whom they are called. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const resources = ["pods", "services", "nodes"] as const;
/** Of a page whose links are rewritten; a longer one passes as it is. */
const pageBytesMax = 8 * 1024 * 1024;

/** Creates the endpoints; register them with the server. */
export function objectProxyEndpoints(options: ObjectProxyOptions): EndpointTable {
  const endpoint: Endpoint = (request) => pass(options, request);
  const keys = resources.flatMap((resource) => methods.map((method) => `${method} v1/${resource}/proxy`));
  return new Map(keys.map((key) => [key, endpoint]));
}

async function pass(
  options: ObjectProxyOptions,
  { request, attributes, signal }: EndpointRequest,
): Promise<ApiResponse> {
  const { prefix, rest } = splitProxyPath(request.path);
  const query = queryText(request);
  if (rest === "" && (request.method === "GET" || request.method === "HEAD")) return redirect(`${prefix}/${query}`);
  const target = proxyTarget(options, attributes);
  const answer = await send(options, target, request, { path: `${rest === "" ? "/" : rest}${query}`, signal });
  return present(answer, prefix);
}

/** The path of the proxy itself, and what follows it. */
function splitProxyPath(path: string): { readonly prefix: string; readonly rest: string } {
  const [prefix = path] = /^.*?\/(?:pods|services|nodes)\/[^/]+\/proxy(?=\/|$)/.exec(path) ?? [];
  return { prefix, rest: path.slice(prefix.length) };
}

function queryText({ query = {} }: ApiRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)] as [string, string]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

function redirect(location: string): ApiResponse {
  return { kind: "bytes", status: 301, headers: { location, "content-length": "0" }, bytes: nothing() };
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // An answer without a body.
}

async function send(
  options: ObjectProxyOptions,
  target: ProxyTarget,
  { method, headers = {}, body }: ApiRequest,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<IncomingMessage> {
  const socket = await dial(options, target);
  const start = target.isSecure ? requestHttps : requestHttp;
  const bytes = body instanceof Uint8Array ? body : undefined;
  return new Promise((resolve, reject) => {
    const sent = start({
      createConnection: () => socket,
      method,
      path,
      signal,
      headers: { ...passedOn(headers), ...(bytes === undefined ? {} : { "content-length": bytes.length }) },
    });
    sent.once("response", resolve);
    sent.once("error", (error) => reject(unreachable(error)));
    sent.end(bytes);
  });
}

async function dial({ connectToPod, tls }: ObjectProxyOptions, target: ProxyTarget): Promise<Duplex> {
  const { address, port, isAgent, isSecure } = target;
  try {
    const inside = isAgent ? undefined : connectToPod?.(address, port);
    const socket = await (inside ?? connectTcp({ host: address, port }));
    if (!isSecure) return socket;
    // As upstream: of a program in a pod nobody has said who it must be.
    const trust = isAgent ? { ...tls, host: address } : { rejectUnauthorized: false };
    return connectTls({ ...trust, socket });
  } catch (error) {
    throw unreachable(error);
  }
}

function unreachable(cause: unknown): ApiError {
  const message = `error trying to reach service: ${messageOf(cause)}`;
  return new ApiError(failure(503, "ServiceUnavailable", message), { cause });
}

/** They are about one connection, or are the client's credentials for this server. */
const ownHeaders: ReadonlySet<string> = new Set(
  "accept-encoding authorization connection content-length keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split(
    " ",
  ),
);

function passedOn(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => !ownHeaders.has(name) && !name.startsWith(":") && !name.startsWith("impersonate-"),
  );
  const authority = headers[":authority"];
  return { ...(authority === undefined ? {} : { host: authority }), ...Object.fromEntries(kept) };
}

async function present(answer: IncomingMessage, prefix: string): Promise<ApiResponse> {
  const { statusCode: status = 502 } = answer;
  const headers = answerHeaders(answer.headers);
  const { location } = headers;
  if (location !== undefined) headers["location"] = rewriteLocation(location, prefix);
  const isPage = /^text\/html\s*(;|$)/.test(headers["content-type"] ?? "") && headers["content-encoding"] === undefined;
  if (!isPage || location !== undefined || Number(headers["content-length"] ?? 0) > pageBytesMax)
    return { kind: "bytes", status, headers, bytes: answer };
  const page = Buffer.from(rewriteHtml(await readPage(answer), prefix));
  return { kind: "bytes", status, headers: { ...headers, "content-length": String(page.length) }, bytes: once(page) };
}

function answerHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || hopHeaders.has(name) ? [] : [[name, [value].flat().join(", ")] as const],
  );
  return Object.fromEntries(entries);
}

const hopHeaders: ReadonlySet<string> = new Set([...ownHeaders].filter((name) => name !== "content-length"));

async function readPage(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length;
    if (bytes > pageBytesMax) throw unreachable(new Error(`the page is longer than ${pageBytesMax} bytes`));
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
