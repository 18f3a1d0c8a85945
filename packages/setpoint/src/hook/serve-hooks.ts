/**
 * Serves the functions of controllers of the pure form as hooks for Metacontroller, or for ourselves in
 * another process.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeJson, encodeJson, isSetpointError, messageOf } from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import type { ControllerDefinition } from "@setpoint/runtime";
import { answerHook, errHookRequest, type HookName } from "./answer-hook.ts";

/** The address and the limits of a hook server. */
export interface ServeHooksOptions {
  readonly host: Host;
  readonly address?: string;
  /** Default: any free one. */
  readonly port?: number;
  /** The size of a request; default 10 MiB. */
  readonly requestBytesMax?: number;
  /** Requests answered at the same time; further ones get a 503 and may retry; default 64. */
  readonly concurrentMax?: number;
}

/** Hooks that are being served. */
export interface HookServer extends AsyncDisposable {
  /**
   * The address without a path: a controller's hooks are at `<url>/<name>/sync`, `/finalize` and
   * `/customize`.
   */
  readonly url: string;
}

const requestBytesMaxDefault = 10 * 1_024 * 1_024;
const concurrentMaxDefault = 64;
const pathPattern = /^\/([^/?]+)\/(sync|finalize|customize)$/;

interface Answer {
  readonly code: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface SerializedAnswer extends Omit<Answer, "body"> {
  readonly text: string;
}

/** Resolves when it listens. */
export async function serveHooks(
  controllers: readonly ControllerDefinition[],
  options: ServeHooksOptions,
): Promise<HookServer> {
  const { host, address = "127.0.0.1", port = 0, concurrentMax = concurrentMaxDefault } = options;
  const stopping = new AbortController();
  let active = 0;
  const respond = async (request: IncomingMessage): Promise<SerializedAnswer> => {
    if (active >= concurrentMax)
      return serialized({ code: 503, body: { error: "busy" }, headers: { "retry-after": "1" } });
    active++;
    try {
      // Here, because an author's answer may be one that JSON does not have.
      return serialized(await answer(controllers, request, options, stopping.signal));
    } catch (error) {
      const isTheirs = isSetpointError(error, errHookRequest);
      if (!isTheirs) host.log.error("Hook failed", { path: request.url, error });
      const text = messageOf(error);
      return serialized({ code: isTheirs ? 400 : 500, body: { error: text } });
    } finally {
      active--;
    }
  };
  const server = createServer((request, response) => {
    respond(request).then(
      (each) => send(response, each),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  // A server that listens on a port has an address of this form.
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(":") ? `[${address}]` : address}:${bound.port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        stopping.abort(new Error("the hook server stops"));
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  controllers: readonly ControllerDefinition[],
  request: IncomingMessage,
  { host, requestBytesMax = requestBytesMaxDefault }: ServeHooksOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const [, name, hook] = pathPattern.exec(request.url ?? "") ?? [];
  const controller = controllers.find((each) => each.name === name);
  if (controller === undefined || hook === undefined) return { code: 404, body: { error: "no such hook" } };
  if (request.method !== "POST")
    return { code: 405, body: { error: "hooks are asked by POST" }, headers: { allow: "POST" } };
  const text = await read(request, requestBytesMax);
  if (text === undefined) return { code: 413, body: { error: `a request has at most ${requestBytesMax} bytes` } };
  const body = parse(text);
  if (body === undefined) return { code: 400, body: { error: "the request is no JSON" } };
  // The pattern has no other names.
  return { code: 200, body: await answerHook(controller, hook as HookName, body, { clock: host.clock, signal }) };
}

async function read(request: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= bytesMax) chunks.push(chunk);
  }
  return length > bytesMax ? undefined : Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return decodeJson(text);
  } catch {
    return undefined;
  }
}

function serialized({ body, ...head }: Answer): SerializedAnswer {
  return { ...head, text: encodeJson(body) };
}

function send(response: ServerResponse, { code, text, headers = {} }: SerializedAnswer): void {
  response.writeHead(code, { ...headers, "content-type": "application/json" }).end(text);
}
