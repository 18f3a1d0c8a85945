/**
 * Which endpoint is in which slice; the rules are those of upstream's reconciler, so that a change of one pod
 * writes one slice.
 */
import { deepEqual } from "@setpoint/apimachinery";
import type { EndpointSlice } from "@setpoint/api";
import type { Stored } from "@setpoint/client";

/** As upstream's `--max-endpoints-per-slice`: a slice is written and watched whole. */
export const endpointsPerSliceMax = 100;

export type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];
export type SlicePorts = NonNullable<EndpointSlice["ports"]>;

/** A slice as it is, or as it is to be. */
export interface PlannedSlice {
  readonly name: string;
  readonly ports: SlicePorts;
  readonly endpoints: readonly Endpoint[];
}

/** A slice without endpoints or ports has null for them on upstream's server. */
export function presentSlice(slice: Pick<Stored<EndpointSlice>, "metadata" | "endpoints" | "ports">): PlannedSlice {
  return { name: slice.metadata.name, ports: slice.ports ?? [], endpoints: slice.endpoints ?? [] };
}

/** Endpoints with the same port numbers: pods may have different ones for a port that a Service names. */
export interface EndpointGroup {
  readonly ports: SlicePorts;
  readonly endpoints: readonly Endpoint[];
}

/** A slice of a group while it is filled; a new one has no name yet. */
interface OpenSlice {
  readonly name: string | undefined;
  readonly ports: SlicePorts;
  readonly endpoints: Endpoint[];
  isChanged: boolean;
}

/**
 * Guarantees: each endpoint is in one slice, none has more than `endpointsPerSliceMax`, and an endpoint stays
 * where it is. New ones go to slices that change anyway, then to the fullest slice that has room for all that
 * are left, then to new slices. There is always a slice. Slices of `present` whose names are not in the
 * answer are not needed any more.
 */
export function planSlices(
  present: readonly PlannedSlice[],
  groups: readonly EndpointGroup[],
  nameOf: (number: number) => string,
): readonly PlannedSlice[] {
  const byPorts = Map.groupBy(present, ({ ports }) => portsKey(ports));
  const filled = groups
    .flatMap((group) => fillGroup(byPorts.get(portsKey(group.ports)) ?? [], group))
    .filter(({ endpoints }) => endpoints.length > 0);
  const empty = { name: present[0]?.name, ports: groups[0]?.ports ?? [], endpoints: [], isChanged: true };
  return named(filled.length > 0 ? filled : [empty], present, nameOf);
}

/** Equal for equal ports. Pods choose their numbers, so there may be as many groups as pods. */
export function portsKey(ports: SlicePorts): string {
  return JSON.stringify(ports.map(({ name, port, protocol }) => [name, port, protocol]));
}

/** `present`: the slices with the group's ports. */
function fillGroup(present: readonly PlannedSlice[], { ports, endpoints }: EndpointGroup): readonly OpenSlice[] {
  const left = new Map(endpoints.map((endpoint) => [keyOf(endpoint), endpoint]));
  const slices = present.map((slice) => kept(slice, left));
  for (const slice of slices) if (slice.isChanged) fill(slice, left);
  while (left.size > 0) {
    let slice = left.size < endpointsPerSliceMax ? fullestWithRoom(slices, left.size) : undefined;
    if (slice === undefined) slices.push((slice = { name: undefined, ports, endpoints: [], isChanged: true }));
    fill(slice, left);
  }
  return slices;
}

/** What stays of a slice, each endpoint as it is now; it is taken from those that are left. */
function kept({ name, ports, endpoints: before }: PlannedSlice, left: Map<string, Endpoint>): OpenSlice {
  const slice: OpenSlice = { name, ports, endpoints: [], isChanged: false };
  for (const old of before) {
    const now = slice.endpoints.length < endpointsPerSliceMax ? left.get(keyOf(old)) : undefined;
    if (now === undefined || !deepEqual(now, old)) slice.isChanged = true;
    if (now === undefined) continue;
    left.delete(keyOf(old));
    slice.endpoints.push(now);
  }
  return slice;
}

function fill(slice: OpenSlice, left: Map<string, Endpoint>): void {
  for (const [key, endpoint] of left) {
    if (slice.endpoints.length >= endpointsPerSliceMax) return;
    left.delete(key);
    slice.endpoints.push(endpoint);
    slice.isChanged = true;
  }
}

function fullestWithRoom(slices: readonly OpenSlice[], count: number): OpenSlice | undefined {
  const fitting = slices.filter(({ endpoints }) => endpoints.length + count <= endpointsPerSliceMax);
  return fitting.toSorted((a, b) => b.endpoints.length - a.endpoints.length)[0];
}

/**
 * New slices take over the names of those that are not needed any more, then the first free ones: a write
 * that is repeated hits itself.
 */
function named(
  slices: readonly OpenSlice[],
  present: readonly PlannedSlice[],
  nameOf: (number: number) => string,
): readonly PlannedSlice[] {
  const used = new Set(slices.map(({ name }) => name));
  const free = present.map(({ name }) => name).filter((name) => !used.has(name));
  let number = 0;
  const freeName = (): string => {
    const reused = free.shift();
    if (reused !== undefined) return reused;
    let name = nameOf(++number);
    while (used.has(name)) name = nameOf(++number);
    used.add(name);
    return name;
  };
  return slices.map(({ name, ports, endpoints }) => ({ name: name ?? freeName(), ports, endpoints }));
}

function keyOf({ targetRef, addresses }: Endpoint): string {
  return targetRef?.uid ?? addresses.join();
}
