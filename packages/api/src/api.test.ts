import type { ObjectOf } from "@setpoint/apimachinery";
import { expect, expectTypeOf, test } from "vitest";

import { AutoscalingV1HorizontalPodAutoscaler, Deployment, Event, EventsV1Event, HorizontalPodAutoscaler, Pod, Role } from "./index.ts";
import type { Container } from "./index.ts";

const container: Container = { name: "web", image: "nginx" };

test("a kind is a builder, a type and its names", () => {
  const pod: Pod = Pod({ name: "web-0", namespace: "shop", labels: { app: "web" }, spec: { containers: [container] } });
  expect(pod).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-0", namespace: "shop", labels: { app: "web" } },
    spec: { containers: [container] },
  });
  expect({ ...Pod }).toMatchObject({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true });
  expect({ ...Role }).toMatchObject({ apiVersion: "rbac.authorization.k8s.io/v1", plural: "roles" });
});

test("of two kinds of one name, the common one is plain and the other is prefixed", () => {
  expect([Event.apiVersion, EventsV1Event.apiVersion]).toEqual(["v1", "events.k8s.io/v1"]);
  expect([HorizontalPodAutoscaler.version, AutoscalingV1HorizontalPodAutoscaler.version]).toEqual(["v2", "v1"]);
});

test("the compiler knows the fields of built-in kinds", () => {
  expectTypeOf<ObjectOf<typeof Deployment>>().toEqualTypeOf<Deployment>();
  expectTypeOf<Deployment["spec"]["replicas"]>().toEqualTypeOf<number | undefined>();
  // @ts-expect-error a Deployment's spec has no such field
  Deployment({ name: "web", spec: { selector: {}, template: {}, replica: 3 } });
  // @ts-expect-error containers are required
  Pod({ name: "web", spec: {} });
});
