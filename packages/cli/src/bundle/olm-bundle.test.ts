import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { candy, ownFolder } from "../own-folder.fixture.ts";
import { setpoint } from "../setpoint.fixture.ts";
import { controller, defineKind, defineOperator } from "setpoint";
import { webhooks } from "setpoint/webhooks";
import { capabilityScore } from "./capability-level.ts";
import { checkBundle } from "./check-bundle.ts";
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

describe("webhooks", () => {
  const Box = defineKind({
    ...{ group: "examples.setpoint.dev", version: "v1", kind: "Box" },
    spec: z.object({ size: z.int().default(1) }),
    versions: {
      v1beta1: {
        spec: z.object({ width: z.int() }),
        up: (spec) => ({ size: spec.width }),
        down: (spec) => ({ width: spec.size }),
      },
    },
  });
  const bundled = (options: object = {}): ReadonlyMap<string, string> =>
    olmBundle(
      defineOperator({
        name: "box",
        controllers: [controller(Box, { reconcile: async () => {} })],
        webhooks: [webhooks(Box, { validate: () => {}, mutate: (box) => box, ...options })],
      }),
      { image: "box:1", version: "1.0.0", channel: "stable" },
    );

  test("are the manager's: it registers them, and the operator serves its certificate", () => {
    const files = bundled();
    expect(checkBundle(files)).toEqual([]);
    const { spec } = parse(files.get("manifests/box-operator.clusterserviceversion.yaml") ?? "") as {
      readonly spec: object;
    };
    const common = { deploymentName: "box-operator", containerPort: 443, targetPort: 9443, sideEffects: "None" };
    const rules = [{ apiGroups: [Box.group], apiVersions: ["v1"], resources: ["boxes"] }];
    expect(spec).toMatchObject({
      webhookdefinitions: [
        { ...common, type: "ValidatingAdmissionWebhook", generateName: "validate.boxes.examples.setpoint.dev", rules },
        { ...common, type: "MutatingAdmissionWebhook", generateName: "mutate.boxes.examples.setpoint.dev", rules },
        {
          ...common,
          type: "ConversionWebhook",
          conversionCRDs: ["boxes.examples.setpoint.dev"],
          webhookPath: "/convert",
        },
      ],
    });
    const text = [...files.values()].join("");
    expect(text).toContain("value: /apiserver.local.config/certificates/apiserver.crt");
    // Neither what the manager makes nor the rights to make it.
    for (const absent of ["namespaceSelector", "webhookconfigurations", "kind: Service\n", "box-webhooks"])
      expect(text).not.toContain(absent);
    expect([...files.keys()].filter((path) => path.includes("webhook"))).toEqual([]);
  });

  test.each([
    ["conditions", { matchConditions: [{ name: "large", expression: "object.spec.size > 9" }] }],
    ["a selector of namespaces", { namespaceSelector: { matchLabels: { team: "shop" } } }],
  ])("with %s are refused: the manager has no field for them", (_, options) => {
    expect(() => bundled(options)).toThrow('Cannot bundle webhook "validate.boxes.examples.setpoint.dev"');
  });

  test("of a Deployment that is not there are found by the check", () => {
    const path = "manifests/box-operator.clusterserviceversion.yaml";
    const text = bundled().get(path) ?? "";
    const files = new Map([
      ...bundled(),
      [path, text.replaceAll("deploymentName: box-operator", "deploymentName: other")],
    ]);
    expect(checkBundle(files).join()).toContain('Deployment "other" of webhook "validate.boxes');
  });
});

describe("the capability level", () => {
  const page = (...marks: readonly (readonly string[])[]): string =>
    marks
      .map(
        (each, at) =>
          `## Level ${at + 1}. X\n\n${each.map((mark, n) => `|   ${n + 1} | Q${n + 1} | ${mark} | how |`).join("\n")}\n`,
      )
      .join("\n");

  test.each([
    ["all of the first", page(["Y", "Y"]), "Basic Install", undefined],
    [
      "in part on the third",
      page(["Y"], ["Y", "Y"], ["Y", "P"], ["Y"]),
      "Seamless Upgrades",
      'question 2 of level 3, "Q2"',
    ],
    ["no on the fifth", page(["Y"], ["Y"], ["Y"], ["Y"], ["Y", "–"]), "Deep Insights", 'question 2 of level 5, "Q2"'],
    ["everything", page(["Y"], ["Y"], ["Y"], ["Y"], ["Y"]), "Auto Pilot", undefined],
  ])("is the highest that is answered with yes: %s", (_, text, level, next) => {
    const score = capabilityScore(text);
    expect(score.level).toBe(level);
    if (next === undefined) expect(score.next).toBeUndefined();
    else expect(score.next).toContain(next);
  });

  test("of a page without questions, or whose first level is not reached, is an error", () => {
    expect(() => capabilityScore("# Nothing")).toThrow("there is no question below a heading");
    expect(() => capabilityScore(page(["Y", "P"]))).toThrow('question 2 of level 1, "Q2", is answered with "P"');
  });

  test("is in the bundle, and the command says what is missing for the next one", async () => {
    const page = new URL("../../../../docs/etcd-capabilities.md", import.meta.url).pathname;
    const flags = ["bundle", candy, folder, "--version", "1.2.3"];
    const { err } = await setpoint(...flags, "--capabilities", page);
    const { level } = capabilityScore(readFileSync(page, "utf8"));
    expect(err).toContain(`Capability level: ${level}, because question`);
    expect(readFileSync(csvPath, "utf8")).toContain(`capabilities: ${level}\n`);
    await setpoint(...flags);
    expect(readFileSync(csvPath, "utf8")).toContain("capabilities: Basic Install\n");
    expect((await setpoint(...flags, "--capabilities", "/nowhere")).err).toContain(
      'Cannot read the capability level from "/nowhere"',
    );
  });
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
