import type { CelType } from "./type.ts";

const opaque = (name: string): CelType => ({ kind: "opaque", name, parameters: [] });

/** Names of types that may stand as values: `type(self) == string`. */
export const typeConstants: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["bool", { kind: "bool" }],
  ["int", { kind: "int" }],
  ["uint", { kind: "uint" }],
  ["double", { kind: "double" }],
  ["string", { kind: "string" }],
  ["bytes", { kind: "bytes" }],
  ["null_type", { kind: "null" }],
  ["list", { kind: "list", element: { kind: "dyn" } }],
  ["map", { kind: "map", key: { kind: "dyn" }, value: { kind: "dyn" } }],
  ["type", { kind: "type", of: undefined }],
  ["google.protobuf.Timestamp", { kind: "timestamp" }],
  ["google.protobuf.Duration", { kind: "duration" }],
  ["optional_type", { kind: "opaque", name: "optional_type", parameters: [{ kind: "dyn" }] }],
  ["kubernetes.Quantity", opaque("kubernetes.Quantity")],
  ["kubernetes.URL", opaque("kubernetes.URL")],
  ["kubernetes.Semver", opaque("kubernetes.Semver")],
  ["kubernetes.NamedFormat", opaque("kubernetes.NamedFormat")],
  ["net.IP", opaque("net.IP")],
  ["net.CIDR", opaque("net.CIDR")],
]);
