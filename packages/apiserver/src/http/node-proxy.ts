/**
 * The proxy to the node agents: logs as an endpoint or over a WebSocket; exec, attach and port-forward as raw
 * two-way connections.
 */
import { type ClientRequest, type IncomingMessage, STATUS_CODES } from "node:http";
import { request as requestHttps } from "node:https";
import { connect, type TLSSocket } from "node:tls";
import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  failure,
  isApiError,
  type JsonObject,
  type Status,
  messageOf,
} from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { Authenticate } from "../auth/credentials.ts";
import { forbidden } from "../auth/forbidden-message.ts";
import type { EndpointRequest, EndpointTable } from "../registry/endpoint.ts";
import type { Authorizer, RequestAttributes } from "../request/request-attributes.ts";
import { badRequest } from "../response/api-errors.ts";
import { type AgentHost, locatePod, type PodOnNode } from "./node-address.ts";
import { sendLog } from "./log-socket.ts";
import type { UpgradeHandler, UpgradeRequest } from "./serve.ts";

/** How the proxy finds a pod's node, authorizes the caller, and authenticates itself to the node's agent. */
export interface NodeProxyOptions {
  readonly reader: ObjectReader;
  readonly authorizer: Authorizer;
  readonly authenticate: Authenticate;
  /** Throws when admission refuses the connection. */
  readonly admit: (attributes: RequestAttributes, options: JsonObject) => Promise<void>;
  /**
   * PEM: the authority of the agents' certificates, and our own client certificate (CN
   * kube-apiserver-kubelet-client).
   */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  readonly hostOf?: AgentHost | undefined;
}

/** Logs, exec, attach and port-forward of pods, forwarded to the agent of the pod's node. */
export interface NodeProxy {
  /** `GET v1/pods/log`. */
  readonly endpoints: EndpointTable;
  /** For `serve`. */
  readonly upgrade: UpgradeHandler;
}

/** Creates the proxy. Register `endpoints` with the server, and pass `upgrade` to `serve`. */
export function createNodeProxy(options: NodeProxyOptions): NodeProxy {
  return {
    endpoints: new Map([["GET v1/pods/log", (request: EndpointRequest) => readLog(options, request)]]),
    upgrade: async (upgrade) => {
      try {
        await forward(options, upgrade);
      } catch (error) {
        refuse(upgrade, error);
      }
    },
  };
}

/** Query parameters of a log request that the agent understands under the same names. */
const logParameters = [
  "follow",
  "previous",
  "sinceSeconds",
  "sinceTime",
  "timestamps",
  "tailLines",
  "limitBytes",
  "stream",
];

async function readLog(
  options: NodeProxyOptions,
  { request, attributes, signal }: EndpointRequest,
): Promise<ApiResponse> {
  const bytes = await openLog(options, attributes, (name) => parameter(request, name), signal);
  return { kind: "bytes", status: 200, headers: { "content-type": "text/plain" }, bytes };
}

async function openLog(
  options: NodeProxyOptions,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  parameterOf: (name: string) => string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const container = parameterOf("container") ?? "";
  const pod = locatePod(options.reader, { namespace, name, container, needsContainer: true }, options.hostOf);
  const query = new URLSearchParams();
  for (const key of logParameters) {
    const value = parameterOf(key);
    if (value !== undefined) query.set(key, value);
  }
  const answer = await getFromAgent(options, pod, `${agentPath("containerLogs", pod)}?${query.toString()}`, signal);
  const status = answer.statusCode ?? 502;
  if (status < 300) return answer;
  const text = await readText(answer);
  throw new ApiError(failure(status, reasonOf(status), text.trim()));
}

function parameter({ query }: ApiRequest, name: string): string | undefined {
  const value = query?.[name];
  return typeof value === "string" || value === undefined ? value : value[0];
}

function reasonOf(status: number): "BadRequest" | "NotFound" | "InternalError" {
  return status === 400 ? "BadRequest" : status === 404 ? "NotFound" : "InternalError";
}

/** The paths of kubelet. */
function agentPath(kind: string, pod: PodOnNode): string {
  const parts = [kind, pod.namespace, pod.name, ...(pod.container === "" ? [] : [pod.container])];
  return `/${parts.map(encodeURIComponent).join("/")}`;
}

function getFromAgent(
  { tls }: NodeProxyOptions,
  pod: PodOnNode,
  path: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = requestHttps({ host: pod.host, port: pod.port, path, signal, agent: false, ...tls });
    request.once("response", resolve);
    request.once("error", (error) => reject(unreachable(error)));
    request.end();
  });
}

/** Error texts of agents are short; more than this is cut. */
const errorTextMax = 64 * 1024;

async function readText(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length > errorTextMax) break;
  }
  return text;
}

function unreachable(cause: Error): ApiError {
  const message = `error dialing backend: ${cause.message}`;
  return new ApiError(failure(500, "InternalError", message), { cause });
}

interface StreamTarget {
  readonly namespace: string;
  readonly name: string;
  readonly subresource: "exec" | "attach" | "portforward" | "log";
  readonly query: URLSearchParams;
}

const streamPath = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/(exec|attach|portforward|log)$/;
const agentPathKinds = { exec: "exec", attach: "attach", portforward: "portForward", log: "containerLogs" } as const;

function readTarget(url: string): StreamTarget {
  const mark = url.indexOf("?");
  const [, namespace, name, subresource] = streamPath.exec(mark === -1 ? url : url.slice(0, mark)) ?? [];
  if (namespace === undefined || name === undefined || !isStream(subresource)) {
    throw new ApiError(failure(404, "NotFound", "the server could not find the requested resource"));
  }
  const query = new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1));
  return { namespace: decoded(namespace), name: decoded(name), subresource, query };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`Cannot read the path segment ${JSON.stringify(segment)}: invalid URL escape`);
  }
}

function isStream(text: string | undefined): text is StreamTarget["subresource"] {
  return text === "exec" || text === "attach" || text === "portforward" || text === "log";
}

async function forward(options: NodeProxyOptions, upgrade: UpgradeRequest): Promise<void> {
  const { message, socket, head, certificate } = upgrade;
  const target = readTarget(message.url ?? "/");
  const { headers } = message;
  const user = options.authenticate(certificate === undefined ? { headers } : { headers, certificate });
  if (target.subresource === "log") return forwardLog(options, upgrade, target, user);
  const attributes = authorize(options.authorizer, target, { user, method: message.method ?? "GET" });
  await options.admit(attributes, connectionOptions(target));
  const needsContainer = target.subresource !== "portforward";
  const container = target.query.get("container") ?? "";
  const pod = locatePod(options.reader, { ...target, container, needsContainer }, options.hostOf);
  const agent = await dial(options, pod);
  agent.write(requestHead(message, pod, target));
  if (head.length > 0) agent.write(head);
  // From here on both sides see each other as they are: also an answer that is not an upgrade reaches the
  // client.
  agent.pipe(socket).pipe(agent);
  const end = (): void => {
    agent.destroy();
    socket.destroy();
  };
  for (const each of [agent, socket]) each.once("error", end).once("close", end);
}

async function forwardLog(
  options: NodeProxyOptions,
  upgrade: UpgradeRequest,
  { namespace, name, query }: StreamTarget,
  user: RequestAttributes["user"],
): Promise<void> {
  checkRight(options.authorizer, { namespace, name, subresource: "log", verb: "get", user });
  const leaving = new AbortController();
  upgrade.socket.once("close", () => leaving.abort(new Error("the client is gone")));
  const log = await openLog(options, { namespace, name }, (key) => query.get(key) ?? undefined, leaving.signal);
  sendLog(upgrade, log);
}

/**
 * A WebSocket starts with GET, yet it does what POST does: since 1.35 upstream asks for `create` in both
 * cases.
 */
function authorize(
  authorizer: Authorizer,
  target: StreamTarget,
  { user, method }: { readonly user: RequestAttributes["user"]; readonly method: string },
): RequestAttributes {
  const { namespace, name, subresource } = target;
  if (method === "GET") checkRight(authorizer, { namespace, name, subresource, verb: "get", user });
  return checkRight(authorizer, { namespace, name, subresource, verb: "create", user });
}

function checkRight(
  authorizer: Authorizer,
  wanted: Pick<RequestAttributes, "name" | "namespace" | "subresource" | "user" | "verb">,
): RequestAttributes {
  const pods = { group: "", version: "v1", resource: "pods" };
  const attributes: RequestAttributes = { isResourceRequest: true, path: "", ...pods, ...wanted };
  const decision = authorizer.authorize(attributes);
  if (!decision.allowed) throw forbidden(attributes, decision.reason);
  return attributes;
}

/** As admission sees them: PodExecOptions, PodAttachOptions or PodPortForwardOptions. */
function connectionOptions({ subresource, query }: StreamTarget): JsonObject {
  if (subresource === "portforward") {
    const ports = query.getAll("ports").map(Number);
    return ports.length === 0 ? {} : { ports };
  }
  const container = query.get("container") ?? "";
  const streams = agentParameters.filter(([name]) => isOn(query, name)).map(([name]) => [name, true]);
  return {
    ...Object.fromEntries(streams),
    ...(container === "" ? {} : { container }),
    ...(subresource === "exec" ? { command: query.getAll("command") } : {}),
  };
}

function isOn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value === "true" || value === "1";
}

function dial({ tls }: NodeProxyOptions, pod: PodOnNode): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: pod.host, port: pod.port, ALPNProtocols: ["http/1.1"], ...tls });
    const fail = (error: Error): void => reject(unreachable(error));
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      socket.off("error", fail);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

/** Kubelet's names of the parameters: `input`, `output`, `error`, `tty` are "1". */
const agentParameters: readonly (readonly [string, string])[] = [
  ["stdin", "input"],
  ["stdout", "output"],
  ["stderr", "error"],
  ["tty", "tty"],
];

function requestHead(message: IncomingMessage, pod: PodOnNode, { subresource, query }: StreamTarget): string {
  const sent = new URLSearchParams();
  for (const [name, agentName] of agentParameters) {
    if (isOn(query, name)) sent.set(agentName, "1");
  }
  for (const name of ["command", "ports", "port"]) for (const each of query.getAll(name)) sent.append(name, each);
  const path = `${agentPath(agentPathKinds[subresource], pod)}?${sent.toString()}`;
  const lines = [`${message.method ?? "GET"} ${path} HTTP/1.1`, `Host: ${pod.host}:${pod.port}`];
  for (let i = 0; i + 1 < message.rawHeaders.length; i += 2) {
    const name = message.rawHeaders[i] ?? "";
    if (!isOwnHeader(name.toLowerCase())) lines.push(`${name}: ${message.rawHeaders[i + 1] ?? ""}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** The caller's credentials are for us, not for the agent. */
function isOwnHeader(name: string): boolean {
  return name === "host" || name === "authorization" || name.startsWith("impersonate-");
}

function refuse({ socket }: UpgradeRequest, error: unknown): void {
  const text = messageOf(error);
  const status: Status = isApiError(error)
    ? error.status
    : failure(500, "InternalError", `Internal error occurred: ${text}`);
  const code = status.code ?? 500;
  const body = JSON.stringify(status);
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "Error"}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.on("error", () => undefined);
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
