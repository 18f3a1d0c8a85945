import type { ApiRequest, Status, UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectPlace } from "./pretended-objects.ts";
import type { ResourceRequest } from "./resource-request.ts";

/** One write that was not made. */
export interface PretendedWrite {
  readonly verb: ResourceRequest["verb"];
  readonly place: ObjectPlace;
  /** Empty when it is the object itself. */
  readonly subresource: string;
  /** As the program sent it, with the revisions of the pretended world. */
  readonly request: ApiRequest;
  readonly before: UnstructuredObject | undefined;
  /** Undefined when the object would be gone, or when the write was refused. */
  readonly after: UnstructuredObject | undefined;
  /** How the server would refuse it. */
  readonly refused?: Status;
  /** True: the server computed it as a dry run. False: it was computed here, so nothing has validated it. */
  readonly isServerChecked: boolean;
}
