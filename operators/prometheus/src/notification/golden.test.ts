/** The configurations that upstream publishes for its own tests, as data; see fixtures/README.md. */
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { configurationText } from "../generate/configuration.ts";
import { ConfigurationRefused, type Section } from "../generate/generation.ts";
import { Alertmanager, type AlertmanagerSpec } from "../kind/alertmanager.ts";
import { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import { assetsOf, type GoldenAsset, goldenFiles, parseYaml, readGolden, versionOf } from "../testing/golden-cases.ts";
import { generateNotification } from "./configuration.ts";
import { fitConfiguration } from "./fit-configuration.ts";

interface GoldenCase {
  readonly version: string;
  /** A part of a configuration that is fitted to the version alone. */
  readonly input?: Section;
  readonly base?: Section;
  readonly root?: AlertmanagerConfig;
  readonly global?: NonNullable<AlertmanagerSpec["alertmanagerConfiguration"]>["global"];
  readonly strategy?: "OnNamespace" | "OnNamespaceExceptForAlertmanagerNamespace" | "None";
  readonly configs?: readonly AlertmanagerConfig[];
  readonly assets?: readonly GoldenAsset[];
  /** The configuration. */
  readonly expected?: unknown;
  /** Why there is none, in upstream's words. */
  readonly refused?: string;
}

const folder = new URL("fixtures/", import.meta.url);
const files = goldenFiles(folder);

function generated(given: GoldenCase): Section {
  const version = versionOf(given.version);
  if (given.input !== undefined) return fitConfiguration({ version, report: () => undefined }, given.input);
  const { global, strategy, root, configs = [] } = given;
  const alertmanager = Alertmanager({
    name: "main",
    namespace: "alertmanager-namespace",
    spec: {
      ...(strategy === undefined ? {} : { alertmanagerConfigMatcherStrategy: { type: strategy } }),
      ...(root === undefined ? {} : { alertmanagerConfiguration: global === undefined ? {} : { global } }),
    },
  });
  const { configuration, rejected } = generateNotification({
    alertmanager,
    version,
    base: stringify(given.base ?? {}),
    ...(root === undefined ? {} : { root }),
    configs,
    assets: assetsOf(given.assets),
  });
  const [first] = rejected;
  // Upstream lets the whole configuration fail where we leave one object out.
  if (first !== undefined) throw new ConfigurationRefused(first.refusal.field, first.refusal.message);
  return configuration;
}

/** Nothing and absence are the same to Alertmanager. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([, each]) => each !== null && !(Array.isArray(each) && each.length === 0),
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, plain(each)]));
}

test("there are cases", () => {
  expect(files.length).toBeGreaterThan(100);
});

test.each(files)("%s", (file) => {
  const given = readGolden(folder, file) as GoldenCase;
  if (given.refused !== undefined) {
    expect(() => generated(given)).toThrow(ConfigurationRefused);
    return;
  }
  const written = parseYaml(configurationText(generated(given)));
  expect(plain(written)).toEqual(plain(given.expected));
});
