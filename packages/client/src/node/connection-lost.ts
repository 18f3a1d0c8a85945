import { SetpointError } from "@setpoint/apimachinery";

/** The connection ended before the answer did: a write may have happened. */
export function connectionLost(cause?: unknown): SetpointError {
  const message = "Cannot read the answer: the connection was cut before its end";
  return new SetpointError("ERR_CONNECTION_LOST", message, { cause });
}
