/** The request that an extension server gets: with the caller's name instead of its credentials. */
import { encodeJson, type ApiRequest, type UserInfo } from "@setpoint/apimachinery";

/** The headers and the body that are sent on. */
export interface ForwardedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | undefined;
}

/** Of one connection, or about the caller: an extension server believes what we say about the latter. */
const droppedHeaders =
  /^(?::.*|host|connection|keep-alive|te|upgrade|transfer-encoding|content-length|authorization|impersonate-.*|x-remote-.*|accept-encoding)$/;

export function forwardedRequest(request: ApiRequest, user: UserInfo): ForwardedRequest {
  const own = Object.entries(request.headers ?? {}).filter(([name]) => !droppedHeaders.test(name.toLowerCase()));
  const body = bytesOf(request.body);
  const type = body === undefined || request.headers?.["content-type"] ? {} : { "content-type": "application/json" };
  return {
    path: request.path + searchOf(request.query),
    headers: { ...Object.fromEntries(own), ...type, ...identityHeaders(user) },
    body,
  };
}

/** As the ConfigMap `extension-apiserver-authentication` announces them. */
function identityHeaders({ username, uid, groups, extra = {} }: UserInfo): Record<string, string | readonly string[]> {
  const extras = Object.entries(extra).map(([key, values]): [string, readonly string[]] => [
    `x-remote-extra-${encodeURIComponent(key.toLowerCase())}`,
    values,
  ]);
  return {
    "x-remote-user": username,
    ...(uid === undefined ? {} : { "x-remote-uid": uid }),
    ...(groups.length === 0 ? {} : { "x-remote-group": groups }),
    ...Object.fromEntries(extras),
  };
}

function searchOf(query: ApiRequest["query"]): string {
  const search = new URLSearchParams();
  for (const [name, values] of Object.entries(query ?? {}))
    for (const value of [values].flat()) search.append(name, value);
  return search.size === 0 ? "" : `?${search.toString()}`;
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return Buffer.from(encodeJson(body));
}
