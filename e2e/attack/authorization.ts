/**
 * An embedded control plane without sockets, asked as anybody: what attacks on authorization and admission
 * need.
 */
import type { ApiRequest, UserInfo } from "@setpoint/apimachinery";
import { type ControlPlane, startControlPlane } from "@setpoint/controlplane";

export interface Answer {
  readonly code: number;
  /** The text of a Status, "" for objects. */
  readonly message: string;
  readonly object: Readonly<Record<string, unknown>>;
  readonly warnings: string;
}

export type Ask = (
  method: ApiRequest["method"],
  path: string,
  body?: object,
  more?: Pick<ApiRequest, "query" | "headers">,
) => Promise<Answer>;

export const adminUser: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };

export function nodeUser(name: string): UserInfo {
  const groups = ["system:nodes", "setpoint:node-agents", "system:authenticated"];
  return { username: `system:node:${name}`, groups };
}

export function accountUser(namespace: string, name: string): UserInfo {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { username: `system:serviceaccount:${namespace}:${name}`, groups };
}

/** With HTTPS, since only then nodes are prepared for; the port is any free one of loopback. */
export async function startPlane(): Promise<ControlPlane> {
  return startControlPlane({ https: {}, controllers: false });
}

export function asking(plane: ControlPlane, user: UserInfo): Ask {
  const transport = plane.transportAs(user);
  return async (method, path, body, more = {}) => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const request = { method, path, headers: { ...headers, ...more.headers }, ...(body === undefined ? {} : { body }) };
    const answer = await transport.send({ ...request, ...(more.query === undefined ? {} : { query: more.query }) });
    if (answer.kind === "watch") return { code: answer.status, message: "", object: {}, warnings: "" };
    if (answer.kind !== "object") throw new Error(`Cannot read the answer to ${method} ${path}: it is ${answer.kind}`);
    const object = answer.object as Readonly<Record<string, unknown>>;
    const message = object["kind"] === "Status" ? String(object["message"] ?? "") : "";
    return { code: answer.status, message, object, warnings: answer.headers["warning"] ?? "" };
  };
}

/** The administrator's request; it must succeed. */
export function arranging(plane: ControlPlane): Ask {
  const ask = asking(plane, adminUser);
  return async (...request) => {
    const answer = await ask(...request);
    if (answer.code >= 300) throw new Error(`Cannot arrange ${request[0]} ${request[1]}: ${answer.message}`);
    return answer;
  };
}
