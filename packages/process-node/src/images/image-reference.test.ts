import { expect, test } from "vitest";
import { canonicalImageName, isImageName, parseImageReference } from "./image-reference.ts";

test.each([
  ["busybox", "docker.io/library/busybox:latest"],
  ["bitnami/etcd:3", "docker.io/bitnami/etcd:3"],
  ["localhost/candy", "localhost/candy:latest"],
  ["localhost:5000/candy", "localhost:5000/candy:latest"],
  ["registry.example.com/a/b:1.2", "registry.example.com/a/b:1.2"],
])("%s is %s", (image, canonical) => {
  expect(canonicalImageName(image)).toBe(canonical);
  expect(isImageName(canonical)).toBe(true);
});

test("a digest stands for a tag", () => {
  expect(parseImageReference("candy@sha256:ab")).toEqual({
    repository: "docker.io/library/candy",
    digest: "sha256:ab",
  });
});

test.each(["", "Candy", "a b", "a/:1", "candy:", "candy@sha256:ab", "../candy"])(
  "%j is not the name of an image",
  (text) => expect(isImageName(text)).toBe(false),
);
