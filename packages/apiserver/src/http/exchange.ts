/** One request over HTTP, from its headers to the last byte of its answer. */
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
} from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import { badRequest } from "../response/api-errors.ts";
import type { Authenticate, CertificateSubject, Credentials } from "../auth/credentials.ts";
import { decodeBody, readBody } from "./read-body.ts";
import type { Reply, ReplyHeaders } from "./reply.ts";
import type { RequestHandler } from "./request-handler.ts";
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
}

const clientGone = new Error("the client closed the request");
const serverClosing = new Error("the server is closing");

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

const brokenEscape = /%(?![0-9a-fA-F]{2})/;

/** Browsers and command line tools get indented JSON unless they say otherwise, as upstream has it. */
const prettyAgents = /^(?:curl|Wget|Mozilla\/5\.0)/;

export class Exchange {
  readonly #reply: Reply;
  readonly #input: ExchangeInput;
  readonly #controller = new AbortController();
  #streams = false;
  #ended = false;

  constructor(reply: Reply, input: ExchangeInput) {
    this.#reply = reply;
    this.#input = input;
    reply.out.on("error", ignore);
    reply.out.once("close", () => this.#onClose());
  }

  /** Ends a watch or a log; other answers are let finish. */
  endStream(): void {
    if (this.#streams) this.#controller.abort(serverClosing);
  }

  async run(handler: RequestHandler, authenticate: Authenticate, host: Host): Promise<void> {
    const auditId = headerOf(this.#input.headers, "audit-id") ?? host.random.uuid();
    try {
      const response = await this.#answer(handler, authenticate);
      this.#streams = response.kind !== "object";
      await this.#write(response, auditId, host);
    } catch (error) {
      await this.#writeFailure(error, auditId, host);
    }
    this.#ended = true;
  }

  async #answer(handler: RequestHandler, authenticate: Authenticate): Promise<ApiResponse> {
    const { headers, certificate, input, method } = this.#input;
    const credentials: Credentials = certificate === undefined ? { headers } : { headers, certificate };
    // Read before anything is refused: HTTP/1.1 needs the body out of the way, and the answer must not overtake it.
    const bytes = input === undefined ? undefined : await readBody(input);
    const user = authenticate(credentials);
    if (!methods.has(method)) throw methodNotAllowed();
    return handler.handle(this.#request(bytes), user, this.#controller.signal);
  }

  #request(bytes: Buffer | undefined): ApiRequest {
    const { method, target, headers } = this.#input;
    const mark = target.indexOf("?");
    const path = mark === -1 ? target : target.slice(0, mark);
    if (brokenEscape.test(path)) throw badRequest(`Cannot read the path ${JSON.stringify(path)}: invalid URL escape`);
    if (bytes !== undefined) checkEncoding(headerOf(headers, "content-encoding"));
    const body = decodeBody(bytes, headerOf(headers, "content-type"));
    return {
      method: method as HttpMethod,
      path,
      ...(mark === -1 ? {} : { query: parse(target.slice(mark + 1)) as Record<string, string | string[]> }),
      // Only set-cookie is ever a list, and clients do not send that.
      headers: headers as Readonly<Record<string, string>>,
      ...(body === undefined ? {} : { body }),
    };
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
    const retry = status.details?.retryAfterSeconds;
    const headers: Record<string, string> = retry === undefined ? {} : { "retry-after": String(retry) };
    const code = status.code ?? 500;
    await this.#write({ kind: "object", status: code, headers, object: status }, auditId, host).catch(ignore);
  }

  #endAfterAbort(): void {
    if (this.#controller.signal.reason === serverClosing) this.#reply.out.end();
  }

  #onClose(): void {
    if (!this.#ended || !this.#reply.out.writableFinished) this.#controller.abort(clientGone);
  }

  #wantsPretty(): boolean {
    const { target, headers } = this.#input;
    const at = target.indexOf("pretty=");
    if (at !== -1) return !/[?&]pretty=(?:false|0)(?:&|$)/.test(target);
    return prettyAgents.test(headerOf(headers, "user-agent") ?? "");
  }
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

/** Nobody compresses what is sent to a Kubernetes API, and inflating it would have to be bounded. */
function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity") return;
  const message = `the body of the request has the encoding ${JSON.stringify(encoding)}: expected none`;
  throw new ApiError(failure(415, "UnsupportedMediaType", message));
}

function methodNotAllowed(): ApiError {
  const message = "the server does not allow this method on the requested resource";
  return new ApiError(failure(405, "MethodNotAllowed", message));
}
