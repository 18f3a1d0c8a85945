/** Typed requests to any Kubernetes API; see the package's README. */

// the client
export { createClient } from "./create-client.ts";
export type { Client, FullList, RawReads } from "./client.ts";
export type { KindRef } from "./kind-ref.ts";
export type { Stored, StoredMeta } from "./stored.ts";
export type {
  ApplyOptions,
  ClientOptions,
  DeleteCollectionOptions,
  DeleteRequestOptions,
  GetOptions,
  ListAllOptions,
  ListPageOptions,
  PatchOptions,
  Preconditions,
  RequestOptions,
  SelectorOptions,
  WatchOptions,
  WriteOptions,
} from "./request-options.ts";

// subresources
export type { LogOptions, Scale, ServiceAccountToken, TokenOptions } from "./subresources.ts";
export { bindPod, evictPod, logLineLengthMax, podLogLines, readScale, requestToken } from "./subresources.ts";

// discovery
export type { DiscoveredResource } from "./rest-mapper.ts";
export { RestMapper } from "./rest-mapper.ts";
export type { RestMappingOptions } from "./rest-mapping.ts";
export { RestMapping } from "./rest-mapping.ts";

// objects as bytes
export type { ByteRange } from "./raw/object-scan.ts";
export { ObjectScan } from "./raw/object-scan.ts";

// paths
export { collectionPath, groupVersionPath, objectPath } from "./resource-path.ts";

// errors
export { isOutcomeUnknown } from "./errors.ts";

// transports that compose
export type { ResourceRequest } from "./transports/resource-request.ts";
export { parseResourceRequest } from "./transports/resource-request.ts";
export type { UsedRight } from "./transports/recorded-use.ts";
export { RecordedUse, usedNamespacesMax, useRecordingTransport } from "./transports/recorded-use.ts";
export type { OverlayOptions, OverlayTransport } from "./transports/overlay-transport.ts";
export { overlayTransport } from "./transports/overlay-transport.ts";
export type { ObjectPlace, PretendedObject } from "./transports/pretended-objects.ts";
export type { PretendedWrite } from "./transports/pretended-write.ts";
export type {
  FlightEnd,
  FlightEntry,
  FlightHeader,
  FlightInput,
  FlightSink,
  RecordedError,
  RecordedRequest,
} from "./transports/flight-recording.ts";
export { flightFormat, FlightRing } from "./transports/flight-recording.ts";
export type { FlightRecorderOptions } from "./transports/flight-recorder.ts";
export { FlightRecorder, recordingTransport } from "./transports/flight-recorder.ts";
export type { Divergence, ReplayOptions, ReplayResult } from "./transports/flight-replay.ts";
export { FlightReplay } from "./transports/flight-replay.ts";
export { isBuiltinGroup, Redactor } from "./transports/redactor.ts";
