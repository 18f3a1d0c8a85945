/** One HTTP request, from its headers to the last byte of its response. */
import { parse } from "node:querystring";
import type { Readable } from "node:stream";
import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  failure,
  type HttpMethod,
  isApiError,
  isSetpointError,
  type Status,
  messageOf,
  type UserInfo,
} from "@setpoint/apimachinery";
import type { Clock, Host } from "@setpoint/host";
import { booleanParameter } from "../request/query-parameters.ts";
import { badRequest } from "../response/api-errors.ts";
import type { Authenticate, CertificateSubject, Credentials } from "../auth/credentials.ts";
import type { FairQueue } from "./fair-queue.ts";
import { readBody } from "./read-body.ts";
import type { Reply, ReplyHeaders } from "./reply.ts";
import type { RequestHandler } from "./request-handler.ts";
import type { Entry, UserLimits } from "./user-limits.ts";
import { writeResponse } from "./write-response.ts";

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface ExchangeInput {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: RequestHeaders;
  readonly certificate: CertificateSubject | "unknown" | undefined;
  /** Absent when nothing follows the headers. */
  readonly input: Readable | undefined;
  /** Called after authentication. */
  readonly identified: (username: string) => void;
}

/** What all exchanges of a server share. */
export interface ExchangeServices {
  readonly handler: RequestHandler;
  readonly authenticate: Authenticate;
  readonly host: Host;
  readonly queue: FairQueue;
  readonly limits: UserLimits;
}

const clientGone = new Error("the client closed the request");
const serverClosing = new Error("the server is closing");

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

const brokenEscape = /%(?![0-9a-fA-F]{2})/;

/** Browsers and command line tools get indented JSON unless they say otherwise, as upstream has it. */
const prettyAgents = /^(?:curl|Wget|Mozilla\/5\.0)/;

/**
 * What of a refused body is read and dropped, so that the client gets to see the answer; then the connection
 * ends.
 */
const discardedBytesMax: number = 16 * 1024 * 1024;
const discardMsMax = 5_000;
/** Upstream cuts longer ones, too. */
const auditIdCharactersMax = 64;
const probePaths: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"]);

export class Exchange {
  readonly #reply: Reply;
  readonly #input: ExchangeInput;
  readonly #controller = new AbortController();
  #streams = false;
  #ended = false;
  #entry: Entry | undefined;
  /** Bytes of the response that waited for the client at the last check. */
  #waitingBytes = 0;

  constructor(reply: Reply, input: ExchangeInput) {
    this.#reply = reply;
    this.#input = input;
    reply.out.on("error", ignore);
    reply.out.once("close", () => this.#onClose());
  }

  /** Cuts an answer of which the client has taken nothing since the last call. */
  cutIfStuck(): void {
    const { out } = this.#reply;
    if (!out.writableEnded || out.destroyed || out.writableFinished) return;
    const waiting = out.writableLength;
    if (waiting > 0 && waiting === this.#waitingBytes) this.#reply.cut();
    this.#waitingBytes = waiting;
  }

  /** Ends a watch or a log; other answers are let finish. */
  endStream(): void {
    if (this.#streams) this.#controller.abort(serverClosing);
  }

  async run(services: ExchangeServices): Promise<void> {
    const { host } = services;
    const auditId = headerOf(this.#input.headers, "audit-id")?.slice(0, auditIdCharactersMax) ?? host.random.uuid();
    try {
      const response = await this.#answer(services);
      this.#streams = response.kind !== "object";
      await this.#write(response, auditId, host);
    } catch (error) {
      await this.#writeFailure(error, auditId, host);
      this.#discardInput(host.clock);
    }
    this.#ended = true;
  }

  /** Everything that can be refused by the head alone is refused before the body is read. */
  async #answer(services: ExchangeServices): Promise<ApiResponse> {
    const { headers, certificate, input, method, identified } = this.#input;
    const credentials: Credentials = certificate === undefined ? { headers } : { headers, certificate };
    const user = services.authenticate(credentials);
    identified(user.username);
    const request = this.#request();
    if (!methods.has(method) && !(method === "OPTIONS" && isProxied(request))) throw methodNotAllowed();
    const holder = probePaths.has(request.path) ? { ...user, username: "system:probes" } : user;
    const entry = services.limits.enter(holder, isLongRunning(request));
    this.#entry = entry;
    if (this.#reply.out.closed) entry.leave();
    const bytes = input === undefined ? undefined : await this.#body(services, request, user, { input, entry });
    const handle = async (): Promise<ApiResponse> =>
      services.handler.handle(withBody(request, bytes), user, this.#controller.signal);
    return entry.isExempt ? handle() : services.queue.run(holder.username, handle);
  }

  #body(
    { handler, host }: ExchangeServices,
    request: ApiRequest,
    user: UserInfo,
    { input, entry }: { readonly input: Readable; readonly entry: Entry },
  ): Promise<Buffer | undefined> {
    handler.admit(request, user);
    const contentLength = headerOf(this.#input.headers, "content-length");
    return readBody(input, { clock: host.clock, contentLength, take: (bytes) => entry.takeBytes(bytes) });
  }

  #request(): ApiRequest {
    const { method, target, headers } = this.#input;
    const mark = target.indexOf("?");
    const path = mark === -1 ? target : target.slice(0, mark);
    if (brokenEscape.test(path)) throw badRequest(`Cannot read the path ${JSON.stringify(path)}: invalid URL escape`);
    return {
      method: method as HttpMethod,
      path,
      ...(mark === -1 ? {} : { query: parse(target.slice(mark + 1)) as Record<string, string | string[]> }),
      // Only set-cookie is ever a list, and clients do not send that.
      headers: headers as Readonly<Record<string, string>>,
    };
  }

  /** After a refusal: a client that is still sending sees the answer, unless it goes on for too long. */
  #discardInput(clock: Clock): void {
    const { input } = this.#input;
    if (input === undefined || input.readableEnded || input.destroyed) return;
    let left = discardedBytesMax;
    const timer = clock.setTimer(() => input.destroy(), discardMsMax, { unref: true });
    input.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) input.destroy();
    });
    input.once("close", () => timer.cancel());
  }

  async #write(response: ApiResponse, auditId: string, host: Host): Promise<void> {
    const { method, headers } = this.#input;
    await writeResponse(this.#reply, response, {
      clock: host.clock,
      headers: replyHeaders(auditId, response.headers),
      gzip: headerOf(headers, "accept-encoding")?.includes("gzip") ?? false,
      pretty: this.#wantsPretty(),
      signal: this.#controller.signal,
      headOnly: method === "HEAD",
    });
  }

  async #writeFailure(error: unknown, auditId: string, host: Host): Promise<void> {
    if (this.#reply.out.destroyed || this.#controller.signal.aborted) return this.#endAfterAbort();
    if (isSetpointError(error, "ERR_ANSWER_WITHHELD")) return this.#reply.cut();
    const status = statusOf(error);
    if (isSetpointError(error, "ERR_SLOW_CLIENT")) host.log.info("Slow client dropped", { path: this.#input.target });
    else if (!isApiError(error)) host.log.error("Request failed", { path: this.#input.target, error });
    // Half an answer must not look like a whole one.
    if (this.#reply.started) return this.#reply.cut();
    if (this.#input.input?.readableEnded === false) this.#reply.linger?.();
    const retry = status.details?.retryAfterSeconds;
    const headers: Record<string, string> = retry === undefined ? {} : { "retry-after": String(retry) };
    const code = status.code ?? 500;
    await this.#write({ kind: "object", status: code, headers, object: status }, auditId, host).catch(ignore);
  }

  #endAfterAbort(): void {
    if (this.#controller.signal.reason === serverClosing) this.#reply.out.end();
  }

  #onClose(): void {
    this.#entry?.leave();
    if (!this.#ended || !this.#reply.out.writableFinished) this.#controller.abort(clientGone);
  }

  #wantsPretty(): boolean {
    const { target, headers } = this.#input;
    const at = target.indexOf("pretty=");
    if (at !== -1) return !/[?&]pretty=(?:false|0)(?:&|$)/.test(target);
    return prettyAgents.test(headerOf(headers, "user-agent") ?? "");
  }
}

function withBody(request: ApiRequest, bytes: Buffer | undefined): ApiRequest {
  if (bytes === undefined) return request;
  checkEncoding(request.headers?.["content-encoding"]);
  return { ...request, body: bytes };
}

/** The program behind a proxy decides on the method. */
function isProxied({ path }: ApiRequest): boolean {
  return /^\/api\/v1\/(?:nodes|namespaces\/[^/]+\/(?:pods|services))\/[^/]+\/proxy(?:\/|$)/.test(path);
}

/** Watches, and logs that are followed. */
function isLongRunning({ path, query }: ApiRequest): boolean {
  return booleanParameter(query, "watch") || booleanParameter(query, "follow") || path.includes("/watch/");
}

function ignore(): void {
  // The stream's end is noticed through "close"; without a listener Node would end the process.
}

function headerOf(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function replyHeaders(auditId: string, own: Readonly<Record<string, string>>): ReplyHeaders {
  return { "audit-id": auditId, "cache-control": "no-cache, private", ...own };
}

function statusOf(error: unknown): Status {
  if (isApiError(error)) return error.status;
  const text = messageOf(error);
  return failure(500, "InternalError", `Internal error occurred: ${text}`, { causes: [{ message: text }] });
}

/** Kubernetes clients do not compress request bodies, and inflating them would need a limit. */
function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity") return;
  const message = `the body of the request has the encoding ${JSON.stringify(encoding)}: expected none`;
  throw new ApiError(failure(415, "UnsupportedMediaType", message));
}

function methodNotAllowed(): ApiError {
  const message = "the server does not allow this method on the requested resource";
  return new ApiError(failure(405, "MethodNotAllowed", message));
}
