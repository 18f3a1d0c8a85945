import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseVersion } from "../generate/version.ts";
import { Alertmanager, type AlertmanagerSpec } from "../kind/alertmanager.ts";
import { webSecrets } from "./alertmanager-objects.ts";
import { alertmanagerStatefulSet } from "./alertmanager-stateful-set.ts";

function setOf(spec: Partial<AlertmanagerSpec>, version = "0.28.1"): ReturnType<typeof alertmanagerStatefulSet> {
  const parsed = parseVersion(version);
  if (parsed === undefined) throw new Error(`no version: ${version}`);
  const alertmanager = Alertmanager({ name: "main", namespace: "monitoring", spec });
  return alertmanagerStatefulSet(alertmanager, { version: parsed, reloaderImage: "operator:1" });
}

function argumentsOf(spec: Partial<AlertmanagerSpec>, version?: string): readonly string[] {
  return setOf(spec, version).spec?.template.spec?.containers[0]?.args ?? [];
}

test("the command line of a pair", () => {
  expect(argumentsOf({ replicas: 2 })).toEqual([
    "--config.file=/etc/alertmanager/config_out/alertmanager.env.yaml",
    "--storage.path=/alertmanager",
    "--data.retention=120h",
    "--web.listen-address=:9093",
    "--web.route-prefix=/",
    "--web.config.file=/etc/alertmanager/web_config/web-config.yaml",
    "--cluster.listen-address=[$(POD_IP)]:9094",
    "--cluster.label=monitoring/main",
    "--cluster.peer=alertmanager-main-0.alertmanager-operated:9094",
    "--cluster.peer=alertmanager-main-1.alertmanager-operated:9094",
    "--cluster.reconnect-timeout=5m",
  ]);
});

test.each<readonly [Partial<AlertmanagerSpec>, string, string]>([
  [{}, "0.28.1", "--cluster.listen-address="],
  [{ forceEnableClusterMode: true }, "0.28.1", "--cluster.listen-address=[$(POD_IP)]:9094"],
  [{ additionalPeers: ["other:9094"] }, "0.28.1", "--cluster.peer=other:9094"],
  [{ clusterLabel: "mine" }, "0.28.1", "--cluster.label=mine"],
  [{}, "0.30.0", "--cluster.peer-name=$(POD_NAME)"],
  [{ minReadySeconds: 30 }, "0.30.0", "--dispatch.start-delay=30s"],
  [{ limits: { maxPerSilenceBytes: "1MB" } }, "0.28.1", "--silences.max-per-silence-bytes=1048576"],
  [{ enableFeatures: ["a", "b"] }, "0.28.1", "--enable-feature=a,b"],
  [{ listenLocal: true }, "0.28.1", "--web.listen-address=127.0.0.1:9093"],
  [{ web: { getConcurrency: 5 } }, "0.28.1", "--web.get-concurrency=5"],
])("%j on %s has %s", (spec, version, argument) => {
  expect(argumentsOf(spec, version)).toContain(argument);
});

test("an older server gets no flag that it does not know", () => {
  const old = argumentsOf({ enableFeatures: ["a"], limits: { maxSilences: 1 } }, "0.21.0").join(" ");
  expect(old).not.toMatch(/cluster\.label|enable-feature|silences|web\.config/);
});

test("TLS of the own pages is a file, and the probes and the reloader speak it", () => {
  const tlsConfig = {
    cert: { secret: { name: "web", key: "tls.crt" } },
    keySecret: { name: "web", key: "tls.key" },
  };
  const spec = { web: { tlsConfig } };
  const [web] = webSecrets(Alertmanager({ name: "main", spec }));
  expect(parse(Buffer.from(web?.data?.["web-config.yaml"] ?? "", "base64").toString())).toEqual({
    tls_server_config: {
      cert_file: "/etc/alertmanager/web_config/secret/web-cert/tls.crt",
      key_file: "/etc/alertmanager/web_config/secret/web-key/tls.key",
    },
  });
  const [server, reloader] = setOf(spec).spec?.template.spec?.containers ?? [];
  expect(server?.readinessProbe?.httpGet?.scheme).toBe("HTTPS");
  expect(reloader?.args).toContain("--reload-url=https://localhost:9093/-/reload");
});

test("TLS without a key is refused", () => {
  const spec = { web: { tlsConfig: { certFile: "/a" } } };
  expect(() => webSecrets(Alertmanager({ name: "main", spec }))).toThrow("expected a key of an object, or keyFile");
});

test("the reloader watches what users mount", () => {
  const [, reloader] = setOf({ secrets: ["a"], configMaps: ["b"] }).spec?.template.spec?.containers ?? [];
  expect(reloader?.args?.filter((each) => each.startsWith("--watch"))).toEqual([
    "--watch=/etc/alertmanager/config",
    "--watch=/etc/alertmanager/secrets/a",
    "--watch=/etc/alertmanager/configmaps/b",
  ]);
});
