import { isApiError, isSetpointError } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { errManagerOptions } from "../errors.ts";

/**
 * Why a kind cannot be listed or watched, and what to do; undefined for errors that pass by themselves. The
 * text is the same for the same problem, so that it is reported once.
 */
export function listProblemOf(error: unknown, kind: KindRef, namespace: string | undefined): string | undefined {
  if (isSetpointError(error, errManagerOptions)) return error.message;
  if (!isApiError(error)) return undefined;
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  const where = namespace === undefined ? "in all namespaces" : `in namespace "${namespace}"`;
  switch (error.code) {
    case 404:
      return `Cannot list ${kind.kind}: the server does not serve ${resource} in version ${kind.version}; install its CustomResourceDefinition (of an operator's own kinds: "setpoint manifests | kubectl apply -f -")`;
    case 403:
      return `Cannot list ${resource} ${where}: the account lacks a rule; grant it the verbs "get", "list" and "watch" on resource "${kind.plural}" of API group "${kind.group}" ("setpoint manifests" prints all rules): ${error.message}`;
    case 401:
      return `Cannot list ${resource} ${where}: the server cannot authenticate the request; the token or client certificate is missing, expired or of another cluster`;
    default:
      return undefined;
  }
}
