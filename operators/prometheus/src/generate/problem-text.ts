/** A problem as the status has it. */
import type { Problem } from "./generation.ts";

export function problemText({ object, field, message }: Problem): string {
  return `${object}: ${field}: ${message}`;
}
