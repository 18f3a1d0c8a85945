/** The containers that upstream's operator makes of the same objects, as data; see fixtures/README.md. */
import type { PodSpec } from "setpoint/kinds";
import { expect, test } from "vitest";
import { ConfigurationRefused, given } from "../generate/generation.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { isPerNode, PrometheusAgent } from "../kind/prometheus-agent.ts";
import { ThanosRuler } from "../kind/thanos-ruler.ts";
import { goldenFiles, readGolden, versionOf } from "../testing/golden-cases.ts";
import { agentDaemonSet, agentStatefulSet } from "./agent-pods.ts";
import type { Container } from "./merge-containers.ts";
import { rulerStatefulSet } from "./ruler-pods.ts";
import { shardStatefulSet } from "./stateful-set.ts";
import { thanosVersionOf } from "./thanos-flags.ts";

interface GoldenObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly version?: string };
}

interface GoldenCase {
  readonly object: GoldenObject;
  /** By the names of the containers. */
  readonly expected?: Readonly<Record<string, Pick<Container, "args" | "env" | "ports" | "volumeMounts" | "image">>>;
  /** Why there is none, in upstream's words. */
  readonly refused?: string;
}

const folder = new URL("fixtures/", import.meta.url);
const files = goldenFiles(folder);
const reloaderImage = "operator:1";

function podOf({ kind, metadata, spec }: GoldenObject): PodSpec | undefined {
  const init = { ...metadata, spec };
  if (kind === "ThanosRuler") {
    const version = thanosVersionOf(spec.version, "spec.version");
    const set = rulerStatefulSet(ThanosRuler(init), { version, reloaderImage, ruleConfigMaps: ["rules"] });
    return set.spec?.template.spec;
  }
  const version = versionOf(given(spec.version) ?? "v3.13.0");
  if (kind === "Prometheus")
    return shardStatefulSet(Prometheus(init), 0, { version, reloaderImage, ruleConfigMaps: [] }).spec?.template.spec;
  const agent = PrometheusAgent(init);
  if (isPerNode(agent)) return agentDaemonSet(agent, { version, reloaderImage }).spec?.template.spec;
  return agentStatefulSet(agent, 0, { version, reloaderImage }).spec?.template.spec;
}

/** Upstream has no mount for the log of an agent in a DaemonSet, and counts on a volume of the image. */
const ownMounts = new Set(["/prometheus"]);

/** The order of flags and the names of volumes mean nothing; the file of the own pages is elsewhere. */
function plain({ args = [], env = [], ports = [], volumeMounts = [], image }: Partial<Container>): unknown {
  const others = volumeMounts.filter(({ name, mountPath }) => name !== "web-config" && !ownMounts.has(mountPath));
  const mounts = others.map(({ mountPath, subPath = "" }) => `${mountPath} ${subPath}`.trim());
  const numbers = ports.map(({ name = "", containerPort }) => `${name} ${containerPort}`);
  return { image, args: args.toSorted(), env, ports: numbers.toSorted(), mounts: mounts.toSorted() };
}

test("there are cases", () => {
  expect(files.length).toBeGreaterThan(20);
});

test.each(files)("%s", (file) => {
  const { object, expected = {}, refused } = readGolden(folder, file) as GoldenCase;
  if (refused !== undefined) {
    expect(() => podOf(object)).toThrow(ConfigurationRefused);
    return;
  }
  const containers = new Map(podOf(object)?.containers.map((each) => [each.name, each]));
  for (const [name, container] of Object.entries(expected))
    expect(plain(containers.get(name) ?? {})).toEqual(plain(container));
});
