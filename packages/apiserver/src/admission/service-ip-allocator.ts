/**
 * Allocates the cluster IPs and node ports of Services. It reads the used ones from the Services themselves,
 * including those being committed, and checks again when the Service is stored. So there is no second list
 * that could disagree.
 */
import { ApiError, type FieldError, invalid, type UnstructuredObject } from "@setpoint/apimachinery";
import { invalidValue } from "../registry/field-errors.ts";
import {
  addressErrors,
  completeAddresses,
  isHeadless,
  unsupportedFamilies,
} from "../registry/builtin/service-addresses.ts";
import { ensureObject, type JsonObject, objectAt, objectsAt, stringAt } from "../registry/json-fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";

/** The block that pods and Services of the process node live in: loopback addresses. */
export const defaultServiceCidr = "127.96.0.0/12";
const nodePortFirst = 30_000;
const nodePortLast = 32_767;
/** Random probes before the range is searched in order. */
const maxProbes = 16;

interface AddressRange {
  readonly cidr: string;
  /** The network address as a number; usable addresses are `base + 1` … `base + size - 2`. */
  readonly base: number;
  readonly size: number;
  /** Addresses in it that something else answers: no Service gets them, not even by name. */
  readonly reserved: ReadonlySet<string>;
}

function parseRange(cidr: string, reserved: readonly string[] = []): AddressRange {
  const [address = "", bits = "32"] = cidr.split("/");
  return { cidr, base: toNumber(address) ?? 0, size: 2 ** (32 - Number(bits)), reserved: new Set(reserved) };
}

/** Other ways to write a number (a zero in front, hexadecimal) would make one address look like two. */
const part = /^(0|[1-9][0-9]{0,2})$/;

function toNumber(address: string): number | undefined {
  const parts = address.split(".");
  if (parts.length !== 4 || parts.some((each) => !part.test(each) || Number(each) > 255)) return undefined;
  return parts.reduce((sum, each) => sum * 256 + Number(each), 0);
}

function toAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

/** The first address of a range, which the Service `kubernetes` has. */
export function firstServiceAddress(cidr: string): string {
  return toAddress(parseRange(cidr).base + 1);
}

/** The plugin for one address range, without the addresses of it that are reserved. */
export function serviceIpAllocator(
  cidr: string = defaultServiceCidr,
  reserved: readonly string[] = [],
): AdmissionPlugin {
  const range = parseRange(cidr, reserved);
  return {
    name: "ServiceIpAllocator",
    allocate(request) {
      if (!isServiceWrite(request)) return;
      allocate(request, ensureObject(request.object as unknown as JsonObject, "spec"), range);
    },
    // Another Service may have got the same while the write was decided.
    stillHolds: (request) => !isServiceWrite(request) || isFree(request),
  };
}

function isServiceWrite({ definition, operation, subresource, object }: AdmissionRequest): boolean {
  if (definition.group !== "" || definition.resource !== "services" || subresource !== "") return false;
  return object !== undefined && (operation === "CREATE" || operation === "UPDATE");
}

/** Whether no other Service has its address or one of its node ports. */
function isFree(request: AdmissionRequest): boolean {
  const address = addressOf(request.object);
  const ports = new Set(nodePortsOf(request.object));
  return lazyOthers(request)().every(
    (other) =>
      (address === undefined || addressOf(other) !== address) && !nodePortsOf(other).some((port) => ports.has(port)),
  );
}

function addressOf(service: UnstructuredObject | undefined): string | undefined {
  const address = stringAt(service, "spec", "clusterIP");
  return address === "" || address === "None" ? undefined : address;
}

function nodePortsOf(service: UnstructuredObject | undefined): readonly unknown[] {
  return objectsAt(service, "spec", "ports").flatMap(({ nodePort }) => (nodePort === undefined ? [] : [nodePort]));
}

function allocate(request: AdmissionRequest, spec: JsonObject, range: AddressRange): void {
  const type = stringAt(spec, "type") || "ClusterIP";
  if (type === "ExternalName") return dropNodePorts(spec, request.old);
  const others = lazyOthers(request);
  const old = request.old === undefined ? undefined : objectAt(request.old, "spec");
  completeAddresses(spec, old);
  refuse(request, addressErrors(spec));
  setFamilies(spec);
  refuse(request, unsupportedFamilies(spec));
  const wanted = stringAt(spec, "clusterIP");
  const isUnset = old !== undefined && stringAt(old, "type") !== "ExternalName";
  if (wanted === "" && !isUnset) {
    spec["clusterIP"] = freeAddress(request, others(), range);
    spec["clusterIPs"] = [spec["clusterIP"]];
  } else if (wanted !== "" && wanted !== "None" && wanted !== presentAddress(request.old))
    checkAddress(request, wanted, others(), range);
  const automatic = type === "NodePort" || (type === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false);
  const hasChosen = (): boolean => objectsAt(spec, "ports").some(isChosen);
  if (automatic || (type === "LoadBalancer" && hasChosen())) allocateNodePorts(request, spec, others(), automatic);
  else if (type === "ClusterIP") dropNodePorts(spec, request.old);
}

/** Who lists the endpoints of a headless Service without a selector may list addresses of any family. */
function setFamilies(spec: JsonObject): void {
  const isAny = isHeadless(spec) && spec["selector"] === undefined;
  const isUnset = spec["ipFamilies"] === undefined && spec["ipFamilyPolicy"] === undefined;
  spec["ipFamilies"] ??= isAny && isUnset ? ["IPv4", "IPv6"] : ["IPv4"];
  spec["ipFamilyPolicy"] ??= isAny && isUnset ? "RequireDualStack" : "SingleStack";
}

/** Who makes a Service one without node ports need not remove those that it had. */
function dropNodePorts(spec: JsonObject, old: UnstructuredObject | undefined): void {
  const had = new Set(nodePortsOf(old));
  for (const port of objectsAt(spec, "ports"))
    if (port["nodePort"] === 0 || had.has(port["nodePort"])) delete port["nodePort"];
}

/** The allocated address; the address of an ExternalName Service was never checked. */
function presentAddress(service: UnstructuredObject | undefined): string {
  return stringAt(service, "spec", "type") === "ExternalName" ? "" : stringAt(service, "spec", "clusterIP");
}

type Services = ReturnType<AdmissionRequest["reader"]["list"]>;

function lazyOthers(request: AdmissionRequest): () => Services {
  let others: Services | undefined;
  return () => {
    if (others !== undefined) return others;
    const { reader, namespace, name, operation } = request;
    others = [...reader.list("", "services"), ...reader.decided("", "services")].filter(
      ({ metadata }) => metadata.namespace !== namespace || metadata.name !== name || operation === "CREATE",
    );
    return others;
  };
}

function freeAddress(request: AdmissionRequest, others: Services, range: AddressRange): string {
  const taken = new Set([...range.reserved, ...others.map((service) => stringAt(service, "spec", "clusterIP"))]);
  const usable = range.size - 3;
  // The first address is reserved for the Service `kubernetes`.
  for (let probe = 0; probe < maxProbes; probe++) {
    const address = toAddress(range.base + 2 + request.random.int(usable));
    if (!taken.has(address)) return address;
  }
  for (let offset = 2; offset < range.size - 1; offset++) {
    const address = toAddress(range.base + offset);
    if (!taken.has(address)) return address;
  }
  throw refused(request, {
    type: "InternalError",
    field: "spec.clusterIPs",
    message: "Internal error: failed to allocate a serviceIP: range is full",
  });
}

function checkAddress(request: AdmissionRequest, wanted: string, others: Services, range: AddressRange): void {
  const value = toNumber(wanted) ?? 0;
  const detail = (text: string): FieldError =>
    invalidValue("spec.clusterIPs", [wanted], `failed to allocate IP ${wanted}: ${text}`);
  if (value <= range.base || value >= range.base + range.size - 1)
    throw refused(
      request,
      detail(`the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${range.cidr}`),
    );
  if (range.reserved.has(toAddress(value))) throw refused(request, detail("provided IP is reserved for cluster DNS"));
  if (others.some((service) => stringAt(service, "spec", "clusterIP") === wanted))
    throw refused(request, detail("provided IP is already allocated"));
}

function isChosen({ nodePort }: JsonObject): boolean {
  return typeof nodePort === "number" && nodePort !== 0;
}

function allocateNodePorts(
  request: AdmissionRequest,
  spec: JsonObject,
  others: Services,
  /** Whether ports without a number get one. */
  isAutomatic: boolean,
): void {
  const taken = new Set(others.flatMap(nodePortsOf));
  objectsAt(spec, "ports").forEach((port, index) => {
    const wanted = port["nodePort"];
    const at = `spec.ports[${index}].nodePort`;
    if (!isAutomatic && !isChosen(port)) return;
    if (typeof wanted === "number" && wanted !== 0) {
      if (wanted < nodePortFirst || wanted > nodePortLast)
        throw refused(
          request,
          invalidValue(at, wanted, "provided port is not in the valid range. The range of valid ports is 30000-32767"),
        );
      if (taken.has(wanted)) throw refused(request, invalidValue(at, wanted, "provided port is already allocated"));
    } else port["nodePort"] = freePort(request, taken);
    taken.add(port["nodePort"]);
  });
}

function freePort(request: AdmissionRequest, taken: ReadonlySet<unknown>): number {
  const count = nodePortLast - nodePortFirst + 1;
  const start = request.random.int(count);
  for (let step = 0; step < count; step++) {
    const port = nodePortFirst + ((start + step) % count);
    if (!taken.has(port)) return port;
  }
  throw refused(request, {
    type: "InternalError",
    field: "spec.ports",
    message: "Internal error: failed to allocate a nodePort: range is full",
  });
}

function refused(request: AdmissionRequest, ...errors: readonly FieldError[]): ApiError {
  return invalid({ group: "", kind: "Service" }, request.name, errors);
}

function refuse(request: AdmissionRequest, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw refused(request, ...errors);
}
