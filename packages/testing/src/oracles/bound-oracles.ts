/** Rules about how much an operator may do, where, and what it may tell. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { encodeJson } from "@setpoint/apimachinery";
import { resourceOf } from "../request-path.ts";
import { sitePattern } from "../faults/site-pattern.ts";
import type { Hop } from "../onlooker.ts";
import type { Oracle, WorldView } from "./oracle.ts";

const minuteMs = 60_000;
/** R12 allows ten runs a minute and key without a change; each makes a few writes at most. */
const writesAMinuteMax = 60;
const statusBytesMax = 64 * 1_024;
const conditionsMax = 30;
const eventsMax = 100;
/** The pause and the way of a request that was sent just before the lease was over. */
const leaseMarginMs = 100;
/** Shorter values are no secrets, but words. */
const canaryLengthMin = 8;

function isOperators({ who }: Hop, view: WorldView): boolean {
  return view.operators.includes(who);
}

/** No operator storms: not with writes to one object, not with Events, not with an ever-growing status. */
export const bounded: Oracle = {
  name: "bounded",
  judge(view) {
    const recent = new Map<string, number[]>();
    /** The last state of each object; what grows without end has grown by then. */
    const last = new Map<string, UnstructuredObject>();
    let events = 0;
    return {
      passed(hop) {
        if (hop.kind !== "write" || !isOperators(hop, view)) return undefined;
        const { atMs, what, request, status = 0 } = hop;
        if (request !== undefined && resourceOf(request.path) === "events" && status === 201 && ++events > eventsMax)
          return `more than ${eventsMax} Events were made`;
        const site = sitePattern(what);
        const times = (recent.get(site) ?? []).filter((each) => each > atMs - minuteMs);
        times.push(atMs);
        recent.set(site, times);
        return times.length > writesAMinuteMax ? `${site} more than ${writesAMinuteMax} times in a minute` : undefined;
      },
      changed({ next }) {
        if (next !== undefined) last.set(next.metadata.uid ?? "", next);
        return undefined;
      },
      ended() {
        for (const object of last.values()) {
          const tooMuch = excessOf(object);
          if (tooMuch !== undefined) return tooMuch;
        }
        return undefined;
      },
    };
  },
};

function excessOf(object: UnstructuredObject): string | undefined {
  const { status } = object as { readonly status?: { readonly conditions?: readonly unknown[] } | null };
  if (status === undefined || status === null) return undefined;
  if ((status.conditions?.length ?? 0) > conditionsMax) return `a status has more than ${conditionsMax} conditions`;
  const { length } = encodeJson(status);
  return length > statusBytesMax ? `a status has ${length} bytes, more than ${statusBytesMax}` : undefined;
}

/** An operator may do what it asks for: its role covers all that it does. */
export const declaredRights: Oracle = {
  name: "declared rights",
  judge: (view) => ({
    passed(hop) {
      const { status, outcome, what } = hop;
      if (status !== 403 || outcome.endsWith("(injected)") || !isOperators(hop, view)) return undefined;
      return /cannot \w+ resource|is forbidden: User/.test(outcome)
        ? `${what}: the operator's own rules do not allow it (${outcome})`
        : undefined;
    },
  }),
};

/** An operator writes only in namespaces in which there are objects that it reconciles. */
export const ownNamespaces: Oracle = {
  name: "own namespaces",
  judge(view) {
    const namespaces = new Set<string>();
    return {
      changed({ kind, next }) {
        if (view.controllers.some((each) => each.kind.plural === kind.plural)) namespaces.add(placeOf(next));
        return undefined;
      },
      passed(hop) {
        if (hop.kind !== "write" || hop.request === undefined || !isOperators(hop, view)) return undefined;
        const place = /\/namespaces\/([^/]+)\/[^/]+/.exec(hop.request.path)?.[1];
        if (place === undefined || resourceOf(hop.request.path) === "events") return undefined;
        const isKnown = namespaces.has(place) || view.controllers.some(({ kind }) => !kind.namespaced);
        return isKnown ? undefined : `${hop.what}: nothing that it reconciles is in namespace "${place}"`;
      },
    };
  },
};

/** With leader election, an operator that has not renewed the lease in time writes nothing. */
export const oneWriter: Oracle = {
  name: "one writer",
  judge(view) {
    const renewed = new Map<string, { readonly atMs: number; readonly forMs: number }>();
    return {
      passed(hop) {
        if (!isOperators(hop, view)) return undefined;
        const { who, kind, atMs, what, status = 500, request, outcome } = hop;
        if (kind === "lease" && status < 300 && request?.method !== "GET") {
          const spec = (request?.body as { readonly spec?: { readonly leaseDurationSeconds?: number } } | null)?.spec;
          renewed.set(who, { atMs, forMs: (spec?.leaseDurationSeconds ?? 15) * 1_000 });
        }
        const lease = renewed.get(who);
        if (kind !== "write" || lease === undefined || request === undefined || outcome.endsWith("(late)"))
          return undefined;
        const overMs = atMs - lease.atMs - lease.forMs - leaseMarginMs;
        return overMs > 0 && status < 300
          ? `${what} by ${who}, whose lease had been over for ${(overMs / 1_000).toFixed(1)} s`
          : undefined;
      },
    };
  },
};

/** What is secret is in Secrets only: not in any other object that an operator writes, and not in its log. */
export const keepsSecrets: Oracle = {
  name: "keeps secrets",
  judge: (view) => ({
    ended() {
      const canaries = canariesOf(view);
      if (canaries.length === 0) return undefined;
      for (const { request, what, ...hop } of view.hops) {
        if (hop.kind !== "write" || !view.operators.includes(hop.who) || request === undefined) continue;
        if (resourceOf(request.path) === "secrets") continue;
        const found = canaries.find(({ value }) => encodeJson(request.body).includes(value));
        if (found !== undefined) return `${what} carries the secret ${found.name}`;
      }
      for (const { message, fields } of view.logs) {
        const text = `${message} ${textOf(fields)}`;
        const found = canaries.find(({ value }) => text.includes(value));
        if (found !== undefined) return `the log line "${message}" carries the secret ${found.name}`;
      }
      return undefined;
    },
  }),
};

interface Canary {
  readonly name: string;
  readonly value: string;
}

/** What every client of a binding may know: keys of servicebinding.io that are no credentials. */
const publicKeys: ReadonlySet<string> = new Set(["type", "provider", "host", "port", "username", "database"]);

/** The values of all Secrets that anybody has written, as they are and in base64. */
function canariesOf(view: WorldView): readonly Canary[] {
  return view.hops.flatMap(({ request, kind, answer }) => {
    if (kind !== "write" || request === undefined || resourceOf(request.path) !== "secrets") return [];
    const {
      data = {},
      type,
      metadata,
    } = (answer ?? {}) as {
      readonly type?: string;
      readonly data?: Readonly<Record<string, string>>;
      readonly metadata?: { readonly name?: string };
    };
    const isBinding = /^(servicebinding\.io|data\.setpoint\.dev)\//.test(type ?? "");
    return Object.entries(data).flatMap(([key, base64]) => {
      if (isBinding && publicKeys.has(key)) return [];
      const plain = Buffer.from(base64, "base64").toString();
      const name = `${metadata?.name ?? ""}/${key}`;
      return [base64, plain].filter((each) => each.length >= canaryLengthMin).map((value) => ({ name, value }));
    });
  });
}

function textOf(fields: unknown): string {
  return JSON.stringify(fields, printable);
}

/** Errors say nothing when they are made to JSON, and a bigint is refused. */
function printable(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error ? `${value.message} ${value.stack ?? ""}` : value;
}

function placeOf(object: UnstructuredObject | undefined): string {
  return object?.metadata.namespace ?? "";
}
