/** Why an object cannot be used: the field, and what is wrong with it. */
import type { KubeObject, Stored } from "setpoint";

export interface Refusal {
  readonly field: string;
  readonly message: string;
}

/** An object that is left out. */
export interface Rejected {
  readonly object: Stored<KubeObject>;
  readonly refusal: Refusal;
}

/** The first of several checks that refuses. */
export function firstRefusal(checks: Iterable<Refusal | undefined>): Refusal | undefined {
  for (const refusal of checks) if (refusal !== undefined) return refusal;
  return undefined;
}

export function refuse(field: string, message: string): Refusal {
  return { field, message };
}

/** The same refusal, seen from the object that has the field. */
export function within(field: string, refusal: Refusal | undefined): Refusal | undefined {
  return refusal && { field: `${field}.${refusal.field}`.replace(".[", "["), message: refusal.message };
}

export function refusalText({ field, message }: Refusal): string {
  return `${field}: ${message}`;
}
