/**
 * The endpoint through which a test controls the faults of a server: `/setpoint/faults`, for members of
 * system:masters.
 */
import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  failure,
  isSetpointError,
  type UserInfo,
} from "@setpoint/apimachinery";
import { mastersGroup } from "../auth/rbac-authorizer.ts";
import { badRequest, methodNotAllowed } from "../response/api-errors.ts";
import { decodeBody } from "../request/body-decoder.ts";
import { parseFaultPlan, parseRule } from "./fault-file.ts";
import type { FaultlessServer, FaultyServer } from "./faulty-server.ts";

/** The path of the endpoint that lists and replaces the rules; only members of system:masters may use it. */
export const faultsPath = "/setpoint/faults";

/**
 * Adds the endpoint to a server with faults, which never hit the endpoint itself. `GET` lists the rules and
 * how often they hit, `PUT` replaces all, `POST` adds one, `DELETE` removes one by its name, or all.
 */
export function steerable(server: FaultyServer): FaultlessServer {
  return {
    handle: async (request, user, signal) =>
      isOfFaults(request) ? steer(server, request, user) : server.handle(request, user, signal),
    admit: (request, user) => {
      if (!isOfFaults(request)) server.admit(request, user);
    },
  };
}

function isOfFaults({ path }: ApiRequest): boolean {
  return path === faultsPath || path.startsWith(`${faultsPath}/`);
}

async function steer(server: FaultyServer, request: ApiRequest, user: UserInfo): Promise<ApiResponse> {
  if (!user.groups.includes(mastersGroup)) throw forbidden(user);
  const name = ruleName(request.path);
  try {
    if (request.method === "PUT" && name === "") server.replace(parseFaultPlan(await bodyOf(request)));
    else if (request.method === "POST" && name === "")
      server.add(parseRule(await bodyOf(request), "rule", `rule-${server.rules.length}`));
    else if (request.method === "DELETE") remove(server, name);
    else if (request.method !== "GET" || name !== "") throw methodNotAllowed();
  } catch (error) {
    throw isSetpointError(error, "ERR_FAULTS_INVALID") ? badRequest(error.message) : error;
  }
  const rules = server.rules.map(({ rule, matched, struck }) => {
    const { settings, times, ...rest } = rule;
    return { ...rest, ...settings, ...(Number.isFinite(times) ? { times } : {}), matched, struck };
  });
  return { kind: "object", status: 200, headers: { "content-type": "application/json" }, object: { rules } };
}

function remove(server: FaultyServer, name: string): void {
  if (name === "") server.replace({ seed: 1, rules: [] });
  else if (!server.remove(name)) throw new ApiError(failure(404, "NotFound", `there is no rule "${name}"`));
}

function ruleName(path: string): string {
  try {
    return decodeURIComponent(path.slice(faultsPath.length + 1));
  } catch {
    throw badRequest(`Cannot read the path ${JSON.stringify(path)}: it has an invalid percent-encoding`);
  }
}

async function bodyOf(request: ApiRequest): Promise<unknown> {
  const { value } = await decodeBody(request, new Map());
  return value;
}

function forbidden({ username }: UserInfo): ApiError {
  const message = `User ${JSON.stringify(username)} cannot steer faults: that is for members of ${mastersGroup}`;
  return new ApiError(failure(403, "Forbidden", message));
}
