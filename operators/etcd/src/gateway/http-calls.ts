/** Requests to the JSON gateway of a member, with the credentials of a client. */
import { request as requestPlain } from "node:http";
import { request as requestSecure, type RequestOptions } from "node:https";
import { type EtcdCertificates, type EtcdCredentials, EtcdError, type EtcdLogin } from "./etcd-gateway.ts";
import type { Tokens } from "./tokens.ts";

/** A healthy member answers in milliseconds; one that needs longer is of no use to a decision. */
const deadlineMs = 2_000;
/** etcd compares passwords slowly on purpose: 0.7 s on a busy machine, and 1.9 s on a very busy one. */
const loginDeadlineMs = 5_000;
/** Status, membership and metrics are small; a larger answer is not etcd's. */
const answerBytesMax = 1 << 20;

export type Json = Readonly<Record<string, unknown>>;

export interface HttpCalls {
  /** Logs in only when the member asks for it: most calls need no login, and logging in needs a quorum. */
  readonly call: (
    endpoint: string,
    path: string,
    body: unknown,
    signal: AbortSignal,
    withinMs?: number,
  ) => Promise<Json>;
  /** The same as a client without a login. */
  readonly callAnonymously: (endpoint: string, path: string, body: unknown, signal: AbortSignal) => Promise<Json>;
  /** Rejects when the member refuses the login. */
  readonly logIn: (endpoint: string, login: EtcdLogin, signal: AbortSignal) => Promise<string>;
  readonly read: (endpoint: string, path: string, signal: AbortSignal) => Promise<string>;
}

export function httpCalls({ tls, login }: EtcdCredentials, tokens: Tokens): HttpCalls {
  const send = async (
    { endpoint, path, body, signal, withinMs = deadlineMs }: Request,
    token?: string,
  ): Promise<Json> => {
    const within = { signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]), tls, token };
    return parseAnswer(`${endpoint}${path}`, await exchange(endpoint, path, body, within));
  };
  const logIn = async (endpoint: string, user: EtcdLogin, signal: AbortSignal): Promise<string> => {
    const request = { endpoint, path: "/v3/auth/authenticate", body: user, signal, withinMs: loginDeadlineMs };
    const { token } = await send(request);
    if (typeof token !== "string") throw new EtcdError(`${endpoint} answered a login without a token`);
    return token;
  };
  const logInAt = async (place: string, user: EtcdLogin, signal: AbortSignal): Promise<string> => {
    const token = await logIn(place, user, signal);
    tokens.accepted(place, user);
    return token;
  };
  const logInFor = async (endpoint: string, user: EtcdLogin, signal: AbortSignal): Promise<string> => {
    try {
      return await logInAt(endpoint, user, signal);
    } catch (error) {
      if (!isLearnerRefusal(error)) throw error;
      for (const other of tokens.placesOf(user)) {
        signal.throwIfAborted();
        const token = await logInAt(other, user, signal).catch(() => undefined);
        if (token !== undefined) return token;
      }
      throw error;
    }
  };
  return {
    logIn,
    async call(endpoint, path, body, signal, withinMs) {
      const request = { endpoint, path, body, signal, withinMs };
      if (login === undefined) return send(request);
      try {
        return await send(request, tokens.get(endpoint, login));
      } catch (error) {
        if (!asksForLogin(error)) throw error;
        const token = await logInFor(endpoint, login, signal);
        tokens.set(endpoint, login, token);
        return send(request, token);
      }
    },
    callAnonymously: (endpoint, path, body, signal) => send({ endpoint, path, body, signal }),
    async read(endpoint, path, signal) {
      const within = { signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]), tls };
      const { text, code } = await exchange(endpoint, path, undefined, within);
      if (code !== 200) throw new EtcdError(`${endpoint}${path} answered ${code}`);
      return text;
    },
  };
}

interface Request {
  readonly endpoint: string;
  readonly path: string;
  readonly body: unknown;
  readonly signal: AbortSignal;
  readonly withinMs?: number | undefined;
}

/**
 * A learner takes no login, and since 3.5.32 and 3.6.12 it wants one before it reports its status. It takes
 * the token that another member gave.
 */
function isLearnerRefusal(error: unknown): boolean {
  return error instanceof EtcdError && error.message.includes("rpc not supported for learner");
}

/** The call had no token, or one that has ended, or one from before the users changed. */
export function asksForLogin(error: unknown): boolean {
  return (
    error instanceof EtcdError &&
    /user name is empty|permission denied|invalid auth token|revision of auth store is old/i.test(error.message)
  );
}

function parseAnswer(url: string, { text, code }: Answer): Json {
  const answer = parseJson(text);
  if (answer === undefined) throw new EtcdError(`${url} answered ${code} with no JSON`);
  if (code === 200) return answer;
  throw new EtcdError(String(answer["message"] ?? answer["error"] ?? text));
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

interface Answer {
  readonly text: string;
  readonly code: number | undefined;
}

interface ExchangeOptions {
  readonly signal: AbortSignal;
  readonly tls: EtcdCertificates | undefined;
  readonly token?: string | undefined;
}

function securityOf(tls: EtcdCertificates | undefined): RequestOptions {
  if (tls === undefined) return {};
  const { ca, certificate, key, serverName } = tls;
  return { ca, cert: certificate, key, servername: serverName };
}

function exchange(
  endpoint: string,
  path: string,
  body: unknown,
  { signal, tls, token }: ExchangeOptions,
): Promise<Answer> {
  const isSecure = endpoint.startsWith("https:");
  const request = isSecure ? requestSecure : requestPlain;
  const payload = body === undefined ? "" : JSON.stringify(body);
  const method = body === undefined ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(payload),
      // Without it, etcd takes the name in the member's own certificate for the user of a call without a
      // token.
      accept: "application/json",
      ...(token === undefined ? {} : { authorization: token }),
    };
    const security = isSecure ? securityOf(tls) : {};
    const sent = request(`${endpoint}${path}`, { method, headers, signal, ...security }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > answerBytesMax)
          sent.destroy(new Error(`The answer of ${endpoint} is larger than ${answerBytesMax} bytes`));
      });
      response.on("error", reject);
      response.on("end", () => resolve({ text, code: response.statusCode }));
    });
    sent.on("error", reject);
    sent.end(payload);
  });
}
