/** HTTP requests to the JSON gateway of one member, with TLS and a login when the Secret has them. */
import { existsSync, readFileSync } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, type RequestOptions } from "node:https";
import { join } from "node:path";
import { TransferError } from "@setpoint/data-service/agent";
import { connectionFailure, foreignAnswer, refusalHint } from "./connection-failure.ts";
import { sourceSecretKeys } from "./etcd-source.ts";

/** A healthy member answers at once; a snapshot may be silent for longer. */
const answerMsMax = 5_000;
const silenceMsMax = 60_000;
const keepAliveMs = 30_000;
const answerBytesMax = 1 << 20;

export type Json = Readonly<Record<string, unknown>>;

/** Certificates and login from the files of a Secret. */
export interface EtcdCredentials {
  readonly tls: Pick<RequestOptions, "ca" | "cert" | "key">;
  readonly login?: { readonly name: string; readonly password: string } | undefined;
}

export function readCredentials(folder: string | undefined): EtcdCredentials {
  const read = (key: keyof typeof sourceSecretKeys): string | undefined => {
    const path = folder === undefined ? "" : join(folder, sourceSecretKeys[key]);
    return folder !== undefined && existsSync(path) ? readFileSync(path, "utf8") : undefined;
  };
  const [ca, cert, key, name, password] = [
    read("authority"),
    read("certificate"),
    read("privateKey"),
    read("username")?.trim(),
    read("password")?.trim(),
  ];
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  return { tls, login: name === undefined || password === undefined ? undefined : { name, password } };
}

/** Tokens end after five minutes without use, and when users or roles change. */
const hasTokenEnded = /invalid auth token|revision of auth store is old/;

/** One member, as the agent talks to it. */
export class EtcdConnection {
  readonly endpoint: string;
  readonly #credentials: EtcdCredentials;
  readonly #signal: AbortSignal;
  #token: string | undefined;

  constructor(endpoint: string, credentials: EtcdCredentials, signal: AbortSignal) {
    this.endpoint = endpoint;
    this.#credentials = credentials;
    this.#signal = signal;
  }

  /** Logs in when there is a login. */
  async open(): Promise<void> {
    const { login } = this.#credentials;
    if (login === undefined) return;
    this.#token = undefined;
    const { token } = await this.#answer("/v3/auth/authenticate", login, answerBytesMax);
    this.#token = String(token);
  }

  async call(path: string, body: Json, bytesMax: number = answerBytesMax): Promise<Json> {
    try {
      return await this.#answer(path, body, bytesMax);
    } catch (error) {
      if (this.#token === undefined || !(error instanceof TransferError) || !hasTokenEnded.test(error.message))
        throw error;
      await this.open();
      return await this.#answer(path, body, bytesMax);
    }
  }

  async #answer(path: string, body: Json, bytesMax: number): Promise<Json> {
    const response = await this.#send(path, body, answerMsMax);
    const text = await textOf(response, this.endpoint, bytesMax);
    return this.#parse(path, response.statusCode, text);
  }

  /** The body of an answer, as it arrives. `silenceMs`: how long it may be without a byte. */
  async stream(path: string, body: Json, silenceMs: number = silenceMsMax): Promise<IncomingMessage> {
    const response = await this.#send(path, body, silenceMs);
    if (response.statusCode !== 200)
      this.#parse(path, response.statusCode, await textOf(response, this.endpoint, answerBytesMax));
    return response;
  }

  /** `silenceMs`: how long the connection may be without a byte. */
  #send(path: string, body: Json, silenceMs: number): Promise<IncomingMessage> {
    const payload = JSON.stringify(body);
    const options: RequestOptions = {
      method: "POST",
      headers: {
        "content-type": "application/json",
        // Without it, etcd takes the name in the member's own certificate for the user of a call without a
        // token.
        accept: "application/json",
        "content-length": Buffer.byteLength(payload),
        ...(this.#token === undefined ? {} : { authorization: this.#token }),
      },
      signal: this.#signal,
      timeout: silenceMs,
      ...this.#credentials.tls,
    };
    const url = `${this.endpoint.replace(/\/$/, "")}${path}`;
    return new Promise((resolve, reject) => {
      const send = url.startsWith("https:") ? requestHttps : requestHttp;
      const sent = send(url, options, resolve);
      // A peer that is gone without a word is noticed, also by a watch that waits.
      sent.setSocketKeepAlive(true, keepAliveMs);
      sent.on("timeout", () => sent.destroy(new Error(`no byte for ${silenceMs / 1_000} s`)));
      sent.on("error", (cause) => reject(unreachable(this.endpoint, cause)));
      sent.end(payload);
    });
  }

  #parse(path: string, status: number | undefined, text: string): Json {
    let answer: Json;
    try {
      answer = JSON.parse(text) as Json;
    } catch {
      const why = foreignAnswer(status, text);
      throw new TransferError("SourceUnreachable", `Cannot read from etcd at ${this.endpoint}${path}: ${why}.`);
    }
    if (status === 200) return answer;
    const message = String(answer["message"] ?? answer["error"] ?? `status ${status}`).slice(0, 200);
    const refuses = /permission denied|authentication|auth token|user name is empty|invalid user/i.test(message);
    throw new TransferError(
      refuses ? "SourceRefused" : "SourceUnreachable",
      `etcd at ${this.endpoint} answered: ${message}${refuses ? "." + refusalHint(message, this.#token !== undefined) : ""}`,
    );
  }
}

export function unreachable(endpoint: string, cause: unknown): TransferError {
  const why = connectionFailure(endpoint, cause);
  return new TransferError("SourceUnreachable", `Cannot read from etcd at ${endpoint}: ${why}.`, { cause });
}

async function textOf(response: IncomingMessage, endpoint: string, bytesMax: number): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  try {
    for await (const piece of response) {
      text += String(piece);
      if (text.length > bytesMax) throw new Error(`an answer of more than ${bytesMax} bytes`);
    }
  } catch (cause) {
    throw unreachable(endpoint, cause);
  }
  return text;
}
