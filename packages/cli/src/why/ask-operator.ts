/** Asks running operators why they did what they did to an object. */
import { decodeJson, isSetpointError, SetpointError } from "@setpoint/apimachinery";
import { forwardPort, resolveConnection } from "@setpoint/client/node";
import { systemClock } from "@setpoint/host/system";
import { deskPorts, type WhyReport } from "setpoint/process";
import { usageError } from "../command.ts";

type Query = Readonly<Record<string, string>>;

/** Where operators answer in a pod, and the first of them on a desk. */
const [statusPort = 0] = deskPorts;
const urlOf = (port: number): string => `http://127.0.0.1:${port}`;
const answerMsMax = 10_000;
const connectionFailed = "ERR_CONNECTION_FAILED";
const unexpectedAnswer = "ERR_UNEXPECTED_ANSWER";
const tokenHint = ', as in --token "$(kubectl create token ACCOUNT)"; docs/why.md shows how to make the account';

/**
 * The report of the operator at `url`; without one, those of all operators on this machine that know the
 * object.
 */
export async function askHere(
  url: string | undefined,
  query: Query,
  token: string | undefined,
): Promise<readonly WhyReport[]> {
  if (url !== undefined) return [await fetchWhy(url, query, token)];
  const answers = await Promise.allSettled(deskPorts.map((port) => fetchWhy(urlOf(port), query, token)));
  const reports = answers.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  if (reports.length > 0) return reports;
  const errors: readonly unknown[] = answers.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  // The error of an operator that answered says more than that a port is closed.
  throw errors.find((error) => !isSetpointError(error, connectionFailed)) ?? errors[0];
}

/**
 * Through the API server, as `kubectl port-forward` does it; the token of the kubeconfig is shown unless
 * another is given.
 */
export async function askPod(
  place: string,
  query: Query,
  { kubeconfig, context, token }: { readonly kubeconfig?: string; readonly context?: string; readonly token?: string },
): Promise<readonly WhyReport[]> {
  const where = {
    clock: systemClock,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  };
  const { connection, namespace: current } = resolveConnection(where);
  const [namespace, pod] = place.includes("/") ? place.split("/") : [current, place];
  if (namespace === undefined || pod === undefined || pod === "")
    throw new SetpointError(usageError, `Cannot use --pod ${place}: expected NAMESPACE/NAME`);
  let broken: unknown;
  const onError = (error: unknown): void => void (broken ??= error);
  await using forward = await forwardPort({ connection, namespace, pod, port: statusPort, onError });
  try {
    return [await fetchWhy(`http://127.0.0.1:${forward.localPort}`, query, token ?? connection.token)];
  } catch (error) {
    // What went wrong on the way to the pod says more than that no answer came.
    throw broken ?? error;
  }
}

/** An operator with a certificate of its own is there, but nobody vouches for it. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  if (/CERT|SIGNATURE|ISSUER/.test(String(cause?.code)))
    return "no authority that this machine trusts has signed its certificate; ask through a forwarded port: use --pod NAMESPACE/NAME";
  return "no operator listens there; use --pod NAMESPACE/NAME for one in a cluster";
}

async function fetchWhy(url: string, query: Query, token: string | undefined): Promise<WhyReport> {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new SetpointError(usageError, `Cannot use --url ${url}: expected an address such as ${urlOf(statusPort)}`);
  const address = new URL(`/debug/why?${new URLSearchParams(query).toString()}`, url);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let response: Response;
  try {
    response = await fetch(address, { headers, signal: AbortSignal.timeout(answerMsMax) });
  } catch (cause) {
    throw new SetpointError(connectionFailed, `Cannot ask the operator at ${address.origin}: ${reasonOf(cause)}`, {
      cause,
    });
  }
  const text = await response.text();
  if (!response.ok)
    throw new SetpointError(
      unexpectedAnswer,
      `Cannot ask the operator at ${address.origin}: ${response.status} ${text.trim()}${response.status === 401 ? tokenHint : ""}`,
    );
  // The parsing border: our own status server's answer.
  return decodeJson(text) as WhyReport;
}
