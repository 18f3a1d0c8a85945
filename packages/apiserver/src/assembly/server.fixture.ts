/** An API server with the real table of built-in kinds in virtual time, and a user that sends requests. */
import type { ApiRequest, UserInfo } from "@setpoint/apimachinery";
import { simulatedHost, type SimulatedHost } from "@setpoint/host/simulated";
import { type ApiServer, type ApiServerOptions, createApiServer } from "./api-server.ts";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { createMemoryStorage } from "../storage/memory-storage.ts";

export interface StartedServer {
  readonly host: SimulatedHost;
  readonly storage: ReturnType<typeof createMemoryStorage>;
  readonly server: ApiServer;
}

export function startServer(options: Partial<ApiServerOptions> = {}): StartedServer {
  const host = simulatedHost(1);
  const storage = createMemoryStorage(host);
  return { host, storage, server: createApiServer({ host, storage, builtin: builtinResources(), ...options }) };
}

export interface Answered<T> {
  readonly code: number;
  readonly body: T;
  readonly warning: string | undefined;
}

/** `T` are the fields of objects and Statuses that a test reads. */
export function asking<T>(server: ApiServer, user: UserInfo) {
  const transport = server.transport(user);
  return async (method: ApiRequest["method"], path: string, body?: object, query = {}): Promise<Answered<T>> => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const request = { method, path, query, headers, ...(body === undefined ? {} : { body }) };
    const answer = await transport.send(request);
    if (answer.kind !== "object")
      throw new Error(`Cannot read the answer to ${method} ${path}: it is a ${answer.kind}`);
    return { code: answer.status, body: answer.object as T, warning: answer.headers["warning"] };
  };
}
