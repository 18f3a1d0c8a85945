import { expect, test } from "vitest";
import { versionOf } from "../testing/golden-cases.ts";
import { Prometheus, type PrometheusSpec } from "../kind/prometheus.ts";
import { agentArguments, prometheusArguments } from "./arguments.ts";
import { shardStatefulSet } from "./stateful-set.ts";

function argumentsOf(spec: Partial<PrometheusSpec>, version = "2.53.3"): readonly string[] {
  return prometheusArguments(Prometheus({ name: "main", spec }).spec, versionOf(version));
}

function setOf(spec: Partial<PrometheusSpec>, shard = 0): ReturnType<typeof shardStatefulSet> {
  const prometheus = Prometheus({ name: "main", namespace: "monitoring", spec });
  return shardStatefulSet(prometheus, shard, {
    version: versionOf("2.53.3"),
    reloaderImage: "operator:1",
    ruleConfigMaps: ["prometheus-main-rulefiles-0"],
  });
}

test("the command line of an empty spec", () => {
  expect(argumentsOf({})).toEqual([
    "--config.file=/etc/prometheus/config_out/prometheus.env.yaml",
    "--web.console.templates=/etc/prometheus/consoles",
    "--web.console.libraries=/etc/prometheus/console_libraries",
    "--web.enable-lifecycle",
    "--web.route-prefix=/",
    "--web.config.file=/etc/prometheus/web_config/web-config.yaml",
    "--storage.tsdb.retention.time=24h",
    "--storage.tsdb.path=/prometheus",
  ]);
});

test.each<readonly [Partial<PrometheusSpec>, string, string]>([
  [{ retention: "7d" }, "2.53.3", "--storage.tsdb.retention.time=7d"],
  [{ retentionSize: "10GB" }, "2.53.3", "--storage.tsdb.retention.size=10GB"],
  [{ enableAdminAPI: true }, "2.53.3", "--web.enable-admin-api"],
  [{ walCompression: false }, "2.53.3", "--no-storage.tsdb.wal-compression"],
  [{ enableOTLPReceiver: true }, "2.53.3", "--enable-feature=otlp-write-receiver"],
  [{ enableOTLPReceiver: true }, "3.0.0", "--web.enable-otlp-receiver"],
  [{ enableFeatures: ["a", "b"] }, "2.53.3", "--enable-feature=a,b"],
  [{ externalUrl: "https://a/b", routePrefix: "/b" }, "2.53.3", "--web.route-prefix=/b"],
  [{ listenLocal: true }, "2.53.3", "--web.listen-address=127.0.0.1:9090"],
  [{ query: { maxConcurrency: 3 } }, "2.53.3", "--query.max-concurrency=3"],
  [{ rules: { alert: { resendDelay: "1m" } } }, "2.53.3", "--rules.alert.resend-delay=1m"],
  [{ additionalArgs: [{ name: "a.b", value: "c" }] }, "2.53.3", "--a.b=c"],
])("%j on %s has %s", (spec, version, argument) => {
  expect(argumentsOf(spec, version)).toContain(argument);
});

test("a server that reads its retention from the configuration gets no flag", () => {
  expect(argumentsOf({ retention: "7d" }, "3.11.0").join(" ")).not.toContain("retention");
});

test("a flag of the operator cannot be set again, not even switched off", () => {
  expect(() => argumentsOf({ additionalArgs: [{ name: "no-web.enable-lifecycle" }] })).toThrow(
    'the operator itself sets "no-web.enable-lifecycle"; remove it',
  );
});

test("the first shard has upstream's name, and the others a number", () => {
  expect([0, 1].map((shard) => setOf({ shards: 2 }, shard).metadata.name)).toEqual([
    "prometheus-main",
    "prometheus-main-shard-1",
  ]);
});

test.each<readonly [Partial<PrometheusSpec>, string]>([
  [{}, "quay.io/prometheus/prometheus:v2.53.3"],
  [{ image: "registry/prometheus:x" }, "registry/prometheus:x"],
  [{ baseImage: "registry/prometheus", tag: "t" }, "registry/prometheus:t"],
  [{ baseImage: "registry/prometheus", sha: "abc" }, "registry/prometheus@sha256:abc"],
])("%j runs the image %s", (spec, image) => {
  expect(setOf(spec).spec?.template.spec?.containers[0]?.image).toBe(image);
});

test("data are in a volume of the pod, or in a claim with upstream's name", () => {
  expect(setOf({}).spec?.template.spec?.volumes).toContainEqual({ name: "prometheus-main-db", emptyDir: {} });
  const claims = setOf({
    storage: { volumeClaimTemplate: { spec: { resources: { requests: { storage: "1Gi" } } } } },
  }).spec?.volumeClaimTemplates;
  expect(claims).toMatchObject([
    { metadata: { name: "prometheus-main-db" }, spec: { accessModes: ["ReadWriteOnce"] } },
  ]);
});

test("a user's container changes the operator's, and another one is added", () => {
  const [server, reloader, own] =
    setOf({
      containers: [
        {
          name: "prometheus",
          env: [{ name: "A", value: "b" }],
          volumeMounts: [{ name: "x", mountPath: "/prometheus" }],
        },
        { name: "proxy", image: "proxy:1" },
      ],
    }).spec?.template.spec?.containers ?? [];
  expect(server).toMatchObject({ image: "quay.io/prometheus/prometheus:v2.53.3", env: [{ name: "A", value: "b" }] });
  expect(server?.volumeMounts?.filter(({ mountPath }) => mountPath === "/prometheus")).toEqual([
    { name: "x", mountPath: "/prometheus" },
  ]);
  expect([reloader?.name, own?.name]).toEqual(["config-reloader", "proxy"]);
});

test("the reloader watches each ConfigMap with rules, and answers on the loopback alone when Prometheus does", () => {
  const reloaderOf = (spec: Partial<PrometheusSpec>): readonly string[] =>
    setOf(spec).spec?.template.spec?.containers[1]?.args ?? [];
  expect(reloaderOf({ routePrefix: "/p" })).toEqual([
    "reload",
    "--config=/etc/prometheus/config/prometheus.yaml.gz",
    "--output=/etc/prometheus/config_out/prometheus.env.yaml",
    "--reload-url=http://localhost:9090/p/-/reload",
    "--listen=:8080",
    "--rules=/etc/prometheus/rules/prometheus-main-rulefiles-0",
  ]);
  expect(reloaderOf({ listenLocal: true })).toContain("--listen=127.0.0.1:8080");
});

test.each<readonly [string, readonly string[]]>([
  ["2.53.3", ["--enable-feature=agent", "--storage.agent.path=/prometheus", "--no-storage.agent.wal-compression"]],
  ["3.1.0", ["--agent", "--storage.agent.path=/prometheus", "--no-storage.agent.wal-compression"]],
])("an agent of version %s has a log of writes, and neither rules nor blocks", (version, flags) => {
  const { spec } = Prometheus({ name: "main", spec: { walCompression: false, retention: "7d" } });
  const args = agentArguments(spec, versionOf(version));
  expect(args.slice(-3)).toEqual(flags);
  expect(args.join(" ")).not.toMatch(/tsdb|query|rules/);
});

test("TLS of the own pages is a file, and the probes and the reloader speak it", () => {
  const key = { name: "web", key: "tls.key" };
  const tlsConfig = { cert: { secret: { name: "web", key: "tls.crt" } }, keySecret: key };
  const pod = setOf({ web: { tlsConfig } }).spec?.template.spec;
  expect(pod?.containers[0]?.readinessProbe?.httpGet?.scheme).toBe("HTTPS");
  expect(pod?.containers[1]?.args).toContain("--reload-url=https://localhost:9090/-/reload");
  expect(pod?.volumes?.filter(({ name }) => name.startsWith("web-config-tls"))).toEqual([
    { name: "web-config-tls-cert", secret: { secretName: "web" } },
    { name: "web-config-tls-key", secret: { secretName: "web" } },
  ]);
});
