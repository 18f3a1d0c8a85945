import type { UnstructuredObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import type { ObjectReader } from "../registry/object-reader.ts";
import { serviceEndpoints } from "./service-endpoint.ts";

const metadata = { name: "hook", namespace: "ops" };
const service = { apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ name: "https", port: 443 }] } };

function slice(...endpoints: readonly object[]): UnstructuredObject {
  const labels = { "kubernetes.io/service-name": "hook" };
  const ports = [{ name: "https", port: 9443 }];
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: { labels }, ports, endpoints };
}

function reader(...slices: readonly UnstructuredObject[]): ObjectReader {
  return { get: () => service, list: () => slices, decided: () => [] };
}

const asked = { namespace: "ops", name: "hook", port: 443 };

test("the ready endpoints of a Service are called in turn, and those that are not ready never", () => {
  const resolve = serviceEndpoints(
    reader(
      slice({ addresses: ["10.0.0.1"] }, { addresses: ["10.0.0.2"], conditions: { ready: false } }),
      slice({ addresses: ["10.0.0.3"], conditions: { ready: true } }),
    ),
  );
  const called = Array.from({ length: 4 }, () => resolve(asked));
  expect(called.map(({ address }) => address)).toEqual(["10.0.0.1", "10.0.0.3", "10.0.0.1", "10.0.0.3"]);
  expect(called.every(({ port }) => port === 9443)).toBe(true);
});

test("a Service without ready endpoints is refused in the words of a real server", () => {
  const resolve = serviceEndpoints(reader(slice({ addresses: ["10.0.0.2"], conditions: { ready: false } })));
  expect(() => resolve(asked)).toThrow('no endpoints available for service "hook"');
  expect(() => resolve({ ...asked, port: 80 })).toThrow('no service port 80 found for service "hook"');
});
