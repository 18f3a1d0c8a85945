/** What there is to decide about now; pure. */
import { type ActRecord, isOpen } from "../kind/act-record.ts";
import { chaosNames } from "../kind/chaos-names.ts";
import type { HatefulSet } from "../kind/hateful-set.ts";

export type Occasion =
  | { readonly kind: "act"; readonly act: ActRecord }
  | { readonly kind: "request"; readonly id: string; readonly request: string }
  | { readonly kind: "interval"; readonly id: string };

/** An act under way comes first, then a request, then an interval. */
export function occasionOf(set: HatefulSet, nowMs: number): Occasion | undefined {
  const act = set.status?.acts?.find(isOpen);
  if (act !== undefined) return { kind: "act", act };
  if (set.spec.suspend || abortionOf(set) !== undefined) return undefined;
  const request = set.metadata.annotations?.[chaosNames.strike];
  if (request !== undefined && request !== set.status?.lastRequest)
    return { kind: "request", id: `request-${(set.status?.total ?? 0) + 1}`, request };
  return isDue(set, nowMs) ? { kind: "interval", id: `interval-${set.status?.interval ?? 1}` } : undefined;
}

/** The abort that still holds: neither the spec nor the annotation has changed since. */
export function abortionOf({ metadata, status }: HatefulSet): NonNullable<HatefulSet["status"]>["aborted"] {
  const aborted = status?.aborted;
  const holds =
    aborted?.generation === metadata.generation && aborted?.resume === metadata.annotations?.[chaosNames.resume];
  return holds ? aborted : undefined;
}

function isDue({ spec, status }: HatefulSet, nowMs: number): boolean {
  const next = status?.nextDecision;
  return spec.chaosLevel > 0 && next !== undefined && Date.parse(next) <= nowMs;
}
