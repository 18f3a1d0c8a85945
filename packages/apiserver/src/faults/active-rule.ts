import type { ApiRequest, UserInfo } from "@setpoint/apimachinery";
import type { Random } from "@setpoint/host";
import type { RequestInfo } from "../request/request-info.ts";
import type { FaultMatch, FaultRule } from "./fault-file.ts";

/** A request, with what it means. */
export interface StruckRequest {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: UserInfo;
}

/** A rule and what it has done so far. */
export class ActiveRule {
  readonly rule: FaultRule;
  matched = 0;
  struck = 0;
  readonly #random: Random;
  readonly #over = new AbortController();

  constructor(rule: FaultRule, random: Random) {
    this.rule = rule;
    this.#random = random;
  }

  /** Aborts when the rule is removed: the requests that it delays continue. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  end(): void {
    this.#over.abort(new Error("the rule is over"));
  }

  /** Whether the rule hits this request; counts the request. */
  strikes(struck: StruckRequest): boolean {
    const { match, every, percent, times } = this.rule;
    if (!matches(match, struck)) return false;
    this.matched++;
    if (this.struck >= times || this.matched % every !== 0) return false;
    if (percent < 100 && this.#random.int(100) >= percent) return false;
    this.struck++;
    return true;
  }

  /** A duration between two, both included. */
  between(minMs: number, maxMs: number): number {
    return minMs + this.#random.int(maxMs - minMs + 1);
  }
}

function matches(match: FaultMatch, { request, info, user }: StruckRequest): boolean {
  const resource = info.subresource === "" ? info.resource : `${info.resource}/${info.subresource}`;
  return (
    info.isResourceRequest &&
    isOneOf(match.verbs, info.verb) &&
    isOneOf(match.resources, resource) &&
    isOneOf(match.namespaces, info.namespace) &&
    isOneOf(match.names, info.name) &&
    isOneOf(match.users, user.username) &&
    isOneOf(match.userAgents, request.headers?.["user-agent"] ?? "")
  );
}

function isOneOf(patterns: readonly string[] | undefined, text: string): boolean {
  if (patterns === undefined) return true;
  return patterns.some((each) => (each.endsWith("*") ? text.startsWith(each.slice(0, -1)) : text === each));
}
