import { deepEqual } from "@setpoint/apimachinery";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { ledgerPrefix } from "./ledger.ts";

/**
 * Whether a change of an object is worth a run: anything but a change of the status alone. Kinds that have no
 * generation cannot say what changed, so every change counts.
 */
export function isWorthARun(old: Stored<KubeObject>, next: Stored<KubeObject>): boolean {
  const [a, b] = [old.metadata, next.metadata];
  return (
    a.uid !== b.uid ||
    b.generation === undefined ||
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    !deepEqual(a.labels, b.labels) ||
    !deepEqual(withoutLedgers(a.annotations), withoutLedgers(b.annotations)) ||
    !deepEqual(a.finalizers, b.finalizers)
  );
}

/** What runs record about themselves is no news for them. */
function withoutLedgers(annotations: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const isLedger = (name: string): boolean => name.startsWith(ledgerPrefix);
  if (!Object.keys(annotations).some(isLedger)) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !isLedger(name)));
}
