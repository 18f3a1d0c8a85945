import { isSetpointError } from "@setpoint/apimachinery";

/** What could not be done, with the causes; a stack only for what must be a bug. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isSetpointError(error) && (error as { code?: unknown }).code === undefined) return error.stack ?? error.message;
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${error.message}${cause}`;
}
