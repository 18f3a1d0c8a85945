import { expect, test } from "vitest";
import { parseImageCatalogue } from "./image-catalogue-file.ts";

const tools = { name: "registry.example.com/tools:1", suite: "trixie", packages: ["busybox-static"] };

test("an image of the file is named packages of a suite, with its start", () => {
  const start = { env: { PATH: "/bin" }, command: ["sh"], links: { "/bin/sh": "/bin/busybox" }, user: "1000" };
  expect(
    parseImageCatalogue({
      images: [
        { ...tools, ...start },
        { ...tools, name: "busybox" },
      ],
    }),
  ).toEqual({
    [tools.name]: { closure: { suite: "trixie", packages: ["busybox-static"] }, ...start },
    "docker.io/library/busybox:latest": { closure: { suite: "trixie", packages: ["busybox-static"] } },
  });
});

test.each([
  [[], "expected an object"],
  [{}, "images: expected a list of images"],
  [{ image: [] }, "image: no such field; expected images"],
  [{ images: ["x"] }, "images[0]: expected an object"],
  [{ images: [{ ...tools, name: "A B" }] }, "images[0].name: expected the name of an image"],
  [{ images: [tools, tools] }, `images[1].name: "${tools.name}" is there twice`],
  [{ images: [{ ...tools, suite: "--no" }] }, "images[0].suite: expected a Debian suite such as trixie"],
  [{ images: [{ ...tools, packages: [] }] }, "images[0].packages: expected a list of Debian packages"],
  [
    { images: [{ ...tools, packages: ["a,b"] }] },
    'images[0].packages[0]: expected the name of a Debian package, got "a,b"',
  ],
  [{ images: [{ ...tools, env: { PATH: 1 } }] }, 'images[0].env["PATH"]: expected a text, got 1'],
  [
    { images: [{ ...tools, version: { package: "etcd" } }] },
    "images[0].version.upstream: expected a text, got nothing",
  ],
  [{ images: [{ ...tools, comand: ["sh"] }] }, "images[0].comand: no such field"],
])("%j is refused with the path of the field", (value, message) => {
  expect(() => parseImageCatalogue(value)).toThrow(`Cannot use the image catalogue: ${message}`);
});
