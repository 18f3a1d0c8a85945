import { Endpoints } from "@setpoint/api";
import { expect, test } from "vitest";
import { isMirrored, mirroredSlices } from "./mirrored-slices.ts";

const named = (subsets: Endpoints["subsets"], more: object = {}): Endpoints =>
  Endpoints({ name: "db", namespace: "default", ...more, subsets: subsets ?? [] });

function inShort(endpoints: Endpoints): readonly string[] {
  return mirroredSlices(endpoints).map(({ metadata, addressType, ports = [], endpoints: found = [] }) => {
    const addresses = found.map((each) => `${each.addresses.join()}${each.conditions?.ready === true ? "" : "?"}`);
    const numbers = ports.map(({ name, port, protocol }) => `${name}:${port}/${protocol}`);
    return `${metadata.name} ${addressType} ${numbers.join()} ${addresses.join(" ")}`;
  });
}

const http = [{ name: "http", port: 80 }];
const dns = [{ port: 53, protocol: "UDP" as const }];
const ips = (...addresses: readonly string[]) => addresses.map((ip) => ({ ip }));

test.each<[string, Endpoints, readonly string[]]>([
  ["nothing", named([]), []],
  ["one subset", named([{ addresses: ips("10.1.2.3"), ports: http }]), ["db-mirrored IPv4 http:80/TCP 10.1.2.3"]],
  [
    "addresses that are not ready",
    named([{ addresses: ips("10.0.0.1"), notReadyAddresses: ips("10.0.0.2"), ports: http }]),
    ["db-mirrored IPv4 http:80/TCP 10.0.0.1 10.0.0.2?"],
  ],
  [
    "two sets of ports",
    named([
      { addresses: ips("10.0.0.1"), ports: http },
      { addresses: ips("10.0.0.1"), ports: dns },
    ]),
    ["db-mirrored IPv4 http:80/TCP 10.0.0.1", "db-mirrored-2 IPv4 :53/UDP 10.0.0.1"],
  ],
  [
    "both families",
    named([{ addresses: ips("10.0.0.1", "fd00::1"), ports: http }]),
    ["db-mirrored IPv4 http:80/TCP 10.0.0.1", "db-mirrored-2 IPv6 http:80/TCP fd00::1"],
  ],
  [
    "an address twice",
    named([{ addresses: ips("10.0.0.1"), notReadyAddresses: ips("10.0.0.1"), ports: http }]),
    ["db-mirrored IPv4 http:80/TCP 10.0.0.1"],
  ],
])("%s", (_, endpoints, wanted) => {
  expect(inShort(endpoints)).toEqual(wanted);
});

test("labels and annotations of the author are mirrored, those of the last write are not", () => {
  const annotations = { "example.com/a": "b", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
  const [slice] = mirroredSlices(
    named([{ addresses: ips("10.0.0.1"), ports: http }], { labels: { app: "db" }, annotations }),
  );
  expect(slice?.metadata.annotations).toEqual({ "example.com/a": "b" });
  expect(slice?.metadata.labels).toEqual({
    app: "db",
    "kubernetes.io/service-name": "db",
    "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
  });
});

test("a label and the lease of a leader keep Endpoints from being mirrored", () => {
  expect(isMirrored(named([]))).toBe(true);
  expect(isMirrored(named([], { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } }))).toBe(false);
  expect(isMirrored(named([], { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } }))).toBe(false);
});
