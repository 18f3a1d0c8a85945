/** `/healthz`, `/livez` and `/readyz`: named checks, each also under its own path. */
import { type ApiRequest, type ApiResponse, messageOf } from "@setpoint/apimachinery";
import { textResponse } from "./response.ts";

/** The health endpoints of kube-apiserver; `healthz` is the deprecated form of the other two. */
export type HealthEndpoint = "healthz" | "livez" | "readyz";

/** One thing that must hold. `check` resolves when it does and rejects with the reason when it does not. */
export interface HealthCheck {
  readonly name: string;
  /** Where it counts; absent: everywhere. */
  readonly endpoints?: readonly HealthEndpoint[];
  check(): Promise<void> | void;
}

export const healthEndpoints: readonly HealthEndpoint[] = ["healthz", "livez", "readyz"];

/** The checks behind one of the endpoints. */
export function checksOf(endpoint: HealthEndpoint, checks: readonly HealthCheck[]): readonly HealthCheck[] {
  return checks.filter((each) => each.endpoints?.includes(endpoint) ?? true);
}

async function reasonOf(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Answers the endpoint as a whole. The reasons of failures are withheld: it is readable without credentials.
 */
export async function answerHealth(
  endpoint: HealthEndpoint,
  checks: readonly HealthCheck[],
  request: ApiRequest,
): Promise<ApiResponse> {
  const excluded = new Set([request.query?.["exclude"] ?? []].flat());
  const lines: string[] = [];
  let healthy = true;
  for (const check of checks) {
    if (excluded.delete(check.name)) lines.push(`[+]${check.name} excluded: ok`);
    else if ((await reasonOf(check)) === undefined) lines.push(`[+]${check.name} ok`);
    else {
      healthy = false;
      lines.push(`[-]${check.name} failed: reason withheld`);
    }
  }
  if (excluded.size > 0) lines.push(unknownExclusions(excluded));
  if (!healthy) return textResponse(500, `${lines.join("\n")}\n${endpoint} check failed\n`);
  if (request.query?.["verbose"] === undefined) return textResponse(200, "ok");
  return textResponse(200, `${lines.join("\n")}\n${endpoint} check passed\n`);
}

function unknownExclusions(names: ReadonlySet<string>): string {
  const quoted = [...names].map((each) => JSON.stringify(each)).join(",");
  return `warn: some health checks cannot be excluded: no matches for ${quoted}`;
}

/** Answers one check under its own path. */
export async function answerCheck(check: HealthCheck): Promise<ApiResponse> {
  const reason = await reasonOf(check);
  return reason === undefined ? textResponse(200, "ok") : textResponse(500, `internal server error: ${reason}\n`);
}
