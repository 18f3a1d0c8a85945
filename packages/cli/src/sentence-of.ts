import { isApiError, isSetpointError } from "@setpoint/apimachinery";

/** What could not be done, with the causes; a stack only for what must be a bug. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isApiError(error) && error.code === 401)
    return "Cannot send the request: the server cannot authenticate it; the token or client certificate of the kubeconfig is missing, expired or of another cluster";
  const unreachable = unreachableServer(error);
  if (unreachable !== undefined)
    return `${unreachable}; start the cluster ("setpoint up" starts one on this machine), or name another one with --kubeconfig or --context`;
  if (!isSetpointError(error) && (error as { code?: unknown }).code === undefined) return error.stack ?? error.message;
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return cause === "" || error.message.includes(cause) ? error.message : `${error.message} (${cause})`;
}

/** The message about a server that does not listen or does not exist, if it is among the causes. */
function unreachableServer(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const isAway = /\b(?:ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH)\b/.test(error.message);
  if (isSetpointError(error, "ERR_CONNECTION_FAILED")) return isAway ? error.message : undefined;
  return unreachableServer(error.cause);
}
