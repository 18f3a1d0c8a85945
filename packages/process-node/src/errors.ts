/** The errors of this package that a caller may handle, by stable code. */
import { SetpointError } from "@setpoint/apimachinery";

/** The codes of the errors that a caller may handle. */
export type NodeErrorCode =
  | "ERR_IMAGE_UNKNOWN"
  | "ERR_IMAGE_ARCHIVE"
  | "ERR_IMAGE_BUILD"
  | "ERR_IMAGE_DENIED"
  | "ERR_IMAGE_PULL"
  | "ERR_IMAGE_CATALOGUE"
  | "ERR_IMAGE_VERSION"
  | "ERR_NO_DISK_SPACE"
  | "ERR_NO_NETWORK"
  | "ERR_TOOL_MISSING"
  | "ERR_CONTAINER_CONFIG"
  | "ERR_CONTAINER_START"
  | "ERR_ADDRESSES_EXHAUSTED"
  | "ERR_DIRECTORY_IN_USE"
  | "ERR_NETWORK"
  | "ERR_NETWORK_FAULT"
  | "ERR_FOLDER_UNSAFE"
  | "ERR_PATH_REFUSED";

export function nodeError(code: NodeErrorCode, message: string, cause?: unknown): SetpointError {
  return new SetpointError(code, message, cause === undefined ? undefined : { cause });
}
