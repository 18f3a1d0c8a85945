/** A field of a spec that cannot be carried out, and why. */
export interface RefusedField {
  readonly field: string;
  readonly why: string;
}

export function refusalText(refusals: readonly RefusedField[]): string {
  return refusals.map(({ field, why }) => `${field}: ${why}`).join("; ");
}
