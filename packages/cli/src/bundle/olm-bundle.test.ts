import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { candy, ownFolder } from "../own-folder.fixture.ts";
import { setpoint } from "../setpoint.fixture.ts";
import { defineOperator } from "setpoint";
import { olmBundle } from "./olm-bundle.ts";
import { sampleOf } from "./sample-object.ts";

const folder = ownFolder("bundle");

const csvPath = join(folder, "manifests/candy-operator.clusterserviceversion.yaml");

test("an operator becomes a bundle that its own check finds fit", async () => {
  expect(await setpoint("bundle", candy, folder, "--version", "1.2.3", "--replaces", "1.2.2")).toMatchObject({
    code: 0,
    err: "",
  });
  expect((await setpoint("bundle", "--check", folder)).out).toContain("is fit");
  const csv = parse(readFileSync(csvPath, "utf8")) as {
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly replaces: string;
      readonly install: { readonly spec: Record<string, readonly object[]> };
    };
  };
  expect(csv.metadata.name).toBe("candy-operator.v1.2.3");
  expect(csv.spec.replaces).toBe("candy-operator.v1.2.2");
  expect(csv.spec.install.spec["clusterPermissions"]).toMatchObject([{ serviceAccountName: "candy-operator" }]);
});

test("the check names the file and the field of what is wrong", async () => {
  const text = readFileSync(csvPath, "utf8");
  writeFileSync(csvPath, text.replace("version: 1.2.3", "version: new"));
  const { code, err } = await setpoint("bundle", "--check", folder);
  writeFileSync(csvPath, text);
  expect(code).toBe(1);
  expect(err).toContain('candy-operator.clusterserviceversion.yaml spec.version: "new" is not a semantic version');
});

test("the check reads files of the bundle, and not what links and pipes in it lead to", async () => {
  const bad = join(folder, "manifests/bad.yaml");
  const make = [
    () => symlinkSync("/dev/zero", bad),
    () => symlinkSync("/etc/passwd", bad),
    () => execFileSync("/usr/bin/mkfifo", [bad]),
    () => writeFileSync(bad, " ".repeat(4 * 1024 * 1024 + 1)),
  ];
  for (const each of make) {
    each();
    const { code, err } = await setpoint("bundle", "--check", folder);
    rmSync(bad);
    expect([code, err]).toEqual([1, expect.stringContaining("manifests/bad.yaml is no file of at most")]);
  }
});

test("a bundle lists the operator's image and those of its pods", () => {
  const image = "registry.example.com/db:7";
  const operator = defineOperator({ name: "db", controllers: [], relatedImages: [{ name: "db-7", image }] });
  const files = olmBundle(operator, { image: "operator:1", version: "1.0.0", channel: "stable" });
  const csv = parse(files.get("manifests/db-operator.clusterserviceversion.yaml") ?? "") as { readonly spec: object };
  const relatedImages = [
    { name: "operator", image: "operator:1" },
    { name: "db-7", image },
  ];
  expect(csv.spec).toMatchObject({ relatedImages });
});

test("an example has what its schema requires and no more", () => {
  const schema = {
    type: "object",
    required: ["size", "mode", "names"],
    properties: {
      size: { type: "integer", minimum: 3 },
      mode: { type: "string", enum: ["fast", "safe"] },
      names: { type: "array", minItems: 1, items: { type: "string", minLength: 2 } },
      note: { type: "string" },
    },
  };
  expect(sampleOf(schema)).toEqual({ size: 3, mode: "fast", names: ["xx"] });
});
