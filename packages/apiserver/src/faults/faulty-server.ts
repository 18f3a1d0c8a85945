/**
 * Wraps an API server that serves HTTP and injects the faults that rules describe, on the real clock, for
 * controllers in any language. It injects only what a conforming API server may do: a client that fails
 * has a bug of its own.
 */
import type { ApiRequest, ApiResponse, UserInfo } from "@setpoint/apimachinery";
import { type Host, type Random, sleep } from "@setpoint/host";
import { parseRequestInfo } from "../request/request-info.ts";
import { ActiveRule, type StruckRequest } from "./active-rule.ts";
import {
  brokenAnswer,
  brokenConnection,
  busyAnswer,
  conflictAnswer,
  goneAnswer,
  quotaAnswer,
  tooLargeAnswer,
} from "./fault-answers.ts";
import type { FaultName, FaultPlan, FaultRule, FaultSettings } from "./fault-file.ts";
import { LaggingHistory } from "./lagging-history.ts";
import { cutFrames, lateFrames, silentFrames } from "./struck-watch.ts";

/** What answers without faults. */
export interface FaultlessServer {
  handle(request: ApiRequest, user: UserInfo, signal: AbortSignal): Promise<ApiResponse>;
  /** Throws when the user is not authorized for the request's method and path. */
  admit(request: ApiRequest, user: UserInfo): void;
}

/** The server that gets faults, and the plan that it starts with. */
export interface FaultyServerOptions {
  readonly server: FaultlessServer;
  readonly host: Host;
  /** Chance from a seed. */
  readonly randomOf: (seed: number) => Random;
  /** The newest revision of the server. */
  readonly revision: () => number;
  readonly plan: FaultPlan;
}

const streamVerbs: ReadonlySet<string> = new Set(["list", "watch"]);
const never = new AbortController().signal;

/**
 * A server that injects faults into the requests that its rules match, and passes all others on unchanged.
 */
export class FaultyServer implements FaultlessServer {
  readonly #options: FaultyServerOptions;
  readonly #history: LaggingHistory;
  #random: Random;
  #rules: readonly ActiveRule[] = [];

  constructor(options: FaultyServerOptions) {
    this.#options = options;
    this.#random = options.randomOf(options.plan.seed);
    this.#history = new LaggingHistory(options.host.clock, options.revision);
    this.replace(options.plan);
  }

  /** The rules in their order, with the requests that each matched and hit. */
  get rules(): readonly { readonly rule: FaultRule; readonly matched: number; readonly struck: number }[] {
    return this.#rules;
  }

  /** Replaces the rules; restarts the random sequence from the plan's seed and resets the counts. */
  replace(plan: FaultPlan): void {
    for (const each of this.#rules) each.end();
    this.#random = this.#options.randomOf(plan.seed);
    this.#rules = plan.rules.map((rule) => new ActiveRule(rule, this.#random));
  }

  /** One more, in place of the one of the same name. */
  add(rule: FaultRule): void {
    this.remove(rule.name);
    this.#rules = [...this.#rules, new ActiveRule(rule, this.#random)];
  }

  /** Whether there was one of this name. */
  remove(name: string): boolean {
    const found = this.#rules.find((each) => each.rule.name === name);
    found?.end();
    this.#rules = this.#rules.filter((each) => each !== found);
    return found !== undefined;
  }

  [Symbol.dispose](): void {
    for (const each of this.#rules) each.end();
    this.#history.stop();
  }

  admit(request: ApiRequest, user: UserInfo): void {
    this.#options.server.admit(request, user);
  }

  async handle(request: ApiRequest, user: UserInfo, signal: AbortSignal): Promise<ApiResponse> {
    const info = parseRequestInfo(request.method, request.path, request.query);
    const struck: StruckRequest = { request, info, user };
    const rules = this.#rules.filter((each) => each.strikes(struck));
    if (rules.length === 0) return this.#options.server.handle(request, user, signal);
    for (const each of rules) await this.#before(each, struck, signal);
    let asked = request;
    for (const each of rules) asked = this.#aged(each, { ...struck, request: asked });
    const response = await this.#options.server.handle(asked, user, signal);
    if (rules.some(({ rule }) => rule.fault === "lostAnswer") && response.kind !== "watch") throw brokenConnection();
    return rules.reduce((shown, each) => this.#watched(each, shown), response);
  }

  /** Rejects or delays the request when the rule's fault does that. */
  async #before(active: ActiveRule, struck: StruckRequest, signal: AbortSignal): Promise<void> {
    const { rule } = active;
    const isStream = streamVerbs.has(struck.info.verb);
    if (is(rule, "latency"))
      return sleep(this.#options.host.clock, active.between(rule.settings.minMs ?? 0, rule.settings.maxMs), signal);
    if (is(rule, "refused")) throw brokenConnection();
    if (is(rule, "conflict")) throw conflictAnswer(struck);
    if (is(rule, "tooManyRequests")) throw busyAnswer(rule.settings.retryAfterSeconds ?? 1);
    if (is(rule, "serverError")) throw brokenAnswer(rule.settings.status ?? 500);
    if (is(rule, "forbidden")) throw quotaAnswer(struck);
    if (is(rule, "gone") && isStream && asksForVersion(struck.request)) throw goneAnswer(struck);
    if (is(rule, "tooLargeResourceVersion") && isStream && asksForVersion(struck.request)) throw tooLargeAnswer(struck);
    if (is(rule, "lateApply") && !isStream && struck.request.method !== "GET") {
      this.#applyLate(struck, rule.settings.afterMs);
      throw brokenConnection();
    }
  }

  #applyLate({ request, user }: StruckRequest, afterMs: number): void {
    const { server, host } = this.#options;
    // Without the caller's signal: it has gone, and the request is on its way all the same.
    host.clock.setTimer(() => void server.handle(request, user, never).catch(() => {}), afterMs, { unref: true });
  }

  /** A list that takes any version, or any that is not older than one, is answered from the past. */
  #aged({ rule }: ActiveRule, { request, info }: StruckRequest): ApiRequest {
    if (!is(rule, "laggingView") || info.verb !== "list") return request;
    const { resourceVersion, resourceVersionMatch, limit, ...query } = request.query ?? {};
    if (resourceVersion === undefined || resourceVersionMatch === "Exact" || query["continue"] !== undefined)
      return request;
    const past = this.#history.revisionBefore(rule.settings.lagMs);
    if (past < Number(resourceVersion)) throw tooLargeAnswer({ request, info, user: { username: "", groups: [] } });
    // A list of any version ignores its limit.
    const pages = resourceVersion === "0" || limit === undefined ? {} : { limit };
    return {
      ...request,
      query: { ...query, ...pages, resourceVersion: String(past), resourceVersionMatch: "Exact" },
    };
  }

  #watched(active: ActiveRule, response: ApiResponse): ApiResponse {
    if (response.kind !== "watch") return response;
    const { rule, over } = active;
    const { clock } = this.#options.host;
    const { frames } = response;
    if (is(rule, "lostAnswer")) throw brokenConnection();
    if (is(rule, "cutWatch")) {
      const { minMs = 0, maxMs } = rule.settings;
      return { ...response, frames: cutFrames(frames, clock, active.between(minMs, maxMs)) };
    }
    if (is(rule, "silentWatch")) {
      const { afterMs = 0, forMs } = rule.settings;
      return { ...response, frames: silentFrames(frames, clock, { afterMs, forMs, over }) };
    }
    if (is(rule, "laggingView"))
      return { ...response, frames: lateFrames(frames, clock, { lagMs: rule.settings.lagMs, over }) };
    return response;
  }
}

function is<Name extends FaultName>(
  rule: FaultRule,
  fault: Name,
): rule is FaultRule<Name> & { readonly settings: FaultSettings[Name] } {
  return rule.fault === fault;
}

function asksForVersion({ query }: ApiRequest): boolean {
  const version = query?.["resourceVersion"];
  return version !== undefined && version !== "" && version !== "0";
}
