/** Requests to any Kubernetes API from a program that is not a controller; Node only. */

// a connection
export type { Transport } from "@setpoint/apimachinery";
export type { ConnectOptions, HttpTransport } from "@setpoint/client/node";
export { connect } from "@setpoint/client/node";

// the client
export type { Client, FullList } from "@setpoint/client";
export { createClient, RestMapping } from "@setpoint/client";

// errors
export {
  ApiError,
  isApiError,
  isExpired,
  isForbidden,
  isInvalid,
  isTooLarge,
  isTooManyRequests,
} from "@setpoint/apimachinery";
export { isSetpointError, SetpointError } from "@setpoint/apimachinery";
export { isOutcomeUnknown } from "@setpoint/client";

// pods and other subresources
export { bindPod, evictPod, podLogLines, readScale, requestToken } from "@setpoint/client";
export { attachToPod, connectToPod, execInPod, forwardPort } from "@setpoint/client/node";

// transports that record and pretend
export { FlightRecorder, FlightReplay, FlightRing, recordingTransport } from "@setpoint/client";
export { overlayTransport, RecordedUse, useRecordingTransport } from "@setpoint/client";
