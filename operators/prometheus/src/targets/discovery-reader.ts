/** Where candidates for targets are read from: an API server, or files. */
import type { EndpointSlice, Ingress, Pod, Service } from "setpoint/kinds";

/** Which objects of one kind are wanted. */
export interface Wanted {
  /** Absent for all. */
  readonly namespace?: string;
  /** Absent for all. */
  readonly labelSelector?: string;
}

/** Each list is cut at a limit that the reader has. */
export interface DiscoveryReader {
  services(wanted: Wanted): Promise<readonly Service[]>;
  pods(wanted: Wanted): Promise<readonly Pod[]>;
  ingresses(wanted: Wanted): Promise<readonly Ingress[]>;
  /** Those of a Service; undefined when nobody can know. */
  slices(namespace: string, service: string): Promise<readonly EndpointSlice[] | undefined>;
}
