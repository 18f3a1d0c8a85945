import type { Pod } from "setpoint/kinds";
import { expect, test } from "vitest";
import { cluster } from "../plan/situation.fixture.ts";
import { memberImage, podVersion, versionAnnotation } from "./member-image.ts";

const digest = `mirror.example.com:5000/etcd@sha256:${"ab".repeat(32)}`;
const pinned = new Map([["3.5.16", digest]]);

test("memberImage() takes a pinned image for the default repository only", () => {
  expect(memberImage(cluster(), "3.5.16", pinned)).toBe(digest);
  expect(memberImage(cluster(), "3.4.23", pinned)).toBe("quay.io/coreos/etcd:v3.4.23");
  expect(memberImage(cluster({ imageRepository: "registry.k8s.io/etcd" }), "3.5.16", pinned)).toBe(
    "registry.k8s.io/etcd:v3.5.16",
  );
});

test.each([
  ["quay.io/coreos/etcd:v3.5.16", {}, "3.5.16"],
  [`quay.io/coreos/etcd:v3.5.16@sha256:${"ab".repeat(32)}`, {}, "3.5.16"],
  [digest, versionAnnotation("3.5.16"), "3.5.16"],
  [digest, {}, undefined],
  // The tag is what runs.
  ["quay.io/coreos/etcd:v3.5.16", versionAnnotation("3.4.23"), "3.5.16"],
])("podVersion() of %s", (image, annotations, version) => {
  const pod = { metadata: { annotations }, spec: { containers: [{ name: "etcd", image }] } } as unknown as Pod;
  expect(podVersion(pod)).toBe(version);
});
