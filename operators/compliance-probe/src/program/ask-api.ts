/** Requests to the API server as the service account of the pod. */
import type { ApiRequest, HttpAnswer } from "../acts/probed-pod.ts";
import { ask } from "./http-request.ts";
import { readAuthority, readToken } from "./pod-token.ts";

/** Undefined when the pod has no token and the request needs one. */
export async function askApi(
  { method, path, body, headers, isAnonymous = false }: ApiRequest,
  env: Readonly<Record<string, string | undefined>>,
): Promise<HttpAnswer | undefined> {
  const token = isAnonymous ? undefined : await readToken();
  if (!isAnonymous && token === undefined) return undefined;
  const host = env["KUBERNETES_SERVICE_HOST"] ?? "kubernetes.default.svc";
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  return ask(`https://${host.includes(":") ? `[${host}]` : host}:${port}${path}`, {
    method,
    authority: await readAuthority(),
    headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": type }), ...headers },
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
