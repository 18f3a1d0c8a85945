/** What an answer of the API server says about a forbidden request. */
import { type Act, allowed, type Attempt, denied, untried } from "./act.ts";
import { type ApiRequest, errorCode, type ProbedPod, type Surroundings } from "./probed-pod.ts";

/** An act that is one request. */
export interface RequestAct extends Omit<Act, "attempt" | "group"> {
  request(this: void, surroundings: Surroundings): ApiRequest;
}

/** Makes an act of one request. */
export function requestAct(group: Act["group"], { request, ...facts }: RequestAct): Act {
  return { ...facts, group, attempt: (pod) => attemptRequest(pod, request(pod.surroundings)) };
}

/** Sends a request that must be refused. */
export async function attemptRequest(pod: ProbedPod, request: ApiRequest): Promise<Attempt> {
  try {
    const answer = await pod.api(request);
    if (answer === undefined) return denied("the pod has no token for the API server");
    return verdictOf(answer.code, answer.message);
  } catch (error) {
    return denied(`the pod does not reach the API server: ${errorCode(error)}`);
  }
}

/**
 * Permission is checked before anything else, so an answer that an object is missing, exists or is invalid is
 * one that only a permitted request gets.
 */
function verdictOf(code: number, message: string): Attempt {
  if (code === 401 || code === 403) return denied(`${code} ${message}`);
  if (code === 429 || code >= 500) return untried(`the API server answered ${code} ${message}`);
  return allowed(`the API server answered ${code} ${message}`.trim());
}
