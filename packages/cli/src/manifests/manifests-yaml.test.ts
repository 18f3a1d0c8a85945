import { expect, test } from "vitest";
import { parse } from "yaml";
import { objectYaml } from "./manifests-yaml.ts";

test("texts that kubectl would read as booleans or numbers stay texts", () => {
  const object = { enum: ["on", "off", "y", "no"], mode: "0644", time: "12:30:00", number: "1_000", real: [true, 7] };
  expect(parse(objectYaml(object), { version: "1.1" })).toEqual(object);
});
