/** Upstream's manifests for alerting on a real Prometheus and a pair of real Alertmanagers. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { PrometheusPlayground } from "./playground.ts";

/** A configuration reaches the pods within two minutes: the operator reads the user's Secret each minute. */
const reload = { timeout: 240_000, interval: 1_000 };
/** Each further pod of the pair waits for so long before it would notify too (`--cluster.peer-timeout`). */
const peerTimeoutMs = 15_000;

let playground: PrometheusPlayground;

beforeAll(async () => {
  playground = await PrometheusPlayground.open();
  await playground.startReceiver();
});

afterAll(async () => {
  await playground?.[Symbol.asyncDispose]();
});

const url = "http://receiver:8080/cgi-bin/alerts";

async function configure(webhook: object): Promise<void> {
  const configuration = {
    route: { receiver: "webhook", group_by: ["alertname"], group_wait: "1s", repeat_interval: "12h" },
    receivers: [{ name: "webhook", webhook_configs: [webhook] }],
  };
  // JSON is YAML.
  const stringData = { "alertmanager.yaml": JSON.stringify(configuration) };
  await playground.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "alertmanager-example" }, stringData });
}

interface Notification {
  readonly receiver: string;
  readonly alerts: readonly { readonly labels: { readonly alertname: string } }[];
}

/** All notifications about an alert, from the first on. */
async function notifications(alert: string): Promise<readonly Notification[]> {
  const lines = (await playground.fetch("http://receiver:8080/kept/alerts")).split("\n").filter((line) => line !== "");
  const all = lines.map((line) => JSON.parse(line) as Notification);
  return all.filter(({ alerts }) => alerts.some(({ labels }) => labels.alertname === alert));
}

async function metric(pod: number, name: string): Promise<string | undefined> {
  const text = await playground.fetch(`http://alertmanager-example-${pod}.alertmanager-operated:9093/metrics`);
  return new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
}

async function condition(type: string): Promise<string> {
  const path = `{range .status.conditions[?(@.type=="${type}")]}{.status} {.reason}: {.message}{end}`;
  return playground.kubectl.ok("get alertmanager example -o", [`jsonpath=${path}`]);
}

/** Fires at once, and for ever. */
async function fire(alert: string): Promise<void> {
  await playground.apply({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: alert.toLowerCase(), labels: { prometheus: "example", role: "alert-rules" } },
    spec: { groups: [{ name: alert, rules: [{ alert, expr: "vector(1)", labels: { namespace: "default" } }] }] },
  });
}

async function expectOnce(alert: string): Promise<void> {
  await expect.poll(() => notifications(alert), reload).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 2 * peerTimeoutMs));
  expect(await notifications(alert)).toHaveLength(1);
}

test("a pair of Alertmanagers gossips, and has loaded its configuration", async () => {
  await configure({ url });
  await playground.applyUpstream("alertmanager-example-service");
  // Upstream's example has three pods.
  await playground.apply({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "Alertmanager",
    metadata: { name: "example" },
    spec: { replicas: 2 },
  });
  await playground.wait("--for=condition=Available alertmanager/example", 300);
  await playground.wait("--for=condition=ConfigurationLoaded alertmanager/example", 120);
  for (const pod of [0, 1]) await expect.poll(() => metric(pod, "alertmanager_cluster_members"), reload).toBe("2");
  const check = "exec alertmanager-example-0 -c alertmanager -- amtool check-config";
  const file = "/etc/alertmanager/config_out/alertmanager.env.yaml";
  expect(await playground.kubectl.ok(check, [file])).toContain("SUCCESS");
});

test("an alert of two Prometheuses is delivered once by the pair", async () => {
  await playground.applyUpstream("prometheus-service-account", "prometheus-cluster-role");
  await playground.applyUpstream("prometheus-cluster-role-binding", "prometheus-example");
  await playground.wait("--for=condition=Available prometheus/example", 300);
  await fire("FirstAlert");
  await expectOnce("FirstAlert");
});

test("an alert is delivered once while one of the pair is gone, and not again when it is back", async () => {
  const node = await playground.kubectl.ok("get nodes -o name");
  await playground.kubectl.ok(`cordon ${node.trim()}`);
  await playground.kubectl.ok("delete pod alertmanager-example-0 --force --grace-period=0");
  await fire("SecondAlert");
  await expectOnce("SecondAlert");
  await playground.kubectl.ok(`uncordon ${node.trim()}`);
  await playground.wait("--for=condition=Ready pod/alertmanager-example-0", 120);
  await expect.poll(() => metric(0, "alertmanager_cluster_members"), reload).toBe("2");
  await expectOnce("SecondAlert");
  expect(await notifications("FirstAlert")).toHaveLength(1);
});

test("a configuration that Alertmanager refuses is reported, and the next good one is loaded", async () => {
  await configure({});
  await expect.poll(() => condition("ConfigurationLoaded"), reload).toMatch(/^False Refused: .*500/);
  await configure({ url, max_alerts: 7 });
  await expect.poll(() => condition("ConfigurationLoaded"), reload).toMatch(/^True Loaded/);
});

test("a configuration that is none changes nothing", async () => {
  const stringData = { "alertmanager.yaml": "route: {receiver: nobody}\n" };
  await playground.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "alertmanager-example" }, stringData });
  await expect
    .poll(() => condition("Reconciled"), reload)
    .toBe('False InvalidConfiguration: spec.configSecret: route.receiver: there is no receiver "nobody"');
  expect(await metric(0, "alertmanager_config_last_reload_successful")).toBe("1");
  await configure({ url });
  await expect.poll(() => condition("Reconciled"), reload).toMatch(/^True Applied/);
});

test("AlertmanagerConfigs of both versions add routes, and one that is invalid is left out with an Event", async () => {
  await playground.kubectl.ok("patch alertmanager example --type=merge -p", [
    JSON.stringify({ spec: { alertmanagerConfigSelector: {} } }),
  ]);
  const config = (version: string, name: string, alert: string, webhook: object): Promise<void> =>
    playground.apply({
      apiVersion: `monitoring.coreos.com/${version}`,
      kind: "AlertmanagerConfig",
      metadata: { name },
      spec: {
        route: {
          receiver: "hook",
          groupWait: "1s",
          matchers: [{ name: "alertname", value: alert, matchType: "=" }],
        },
        receivers: [{ name: "hook", webhookConfigs: [webhook] }],
      },
    });
  await config("v1alpha1", "older", "OlderAlert", { url });
  await config("v1beta1", "newer", "NewerAlert", { url });
  await config("v1beta1", "broken", "BrokenAlert", { urlSecret: { name: "none", key: "url" } });
  // `kubectl events --for` looks for events of the newest version of the kind.
  const events = (): Promise<string> =>
    playground.kubectl.ok("get events --field-selector involvedObject.name=broken -o wide");
  await expect.poll(events, reload).toContain('key "url" of Secret "default/none" does not exist');
  const check = "exec alertmanager-example-0 -c alertmanager -- amtool check-config";
  const file = "/etc/alertmanager/config_out/alertmanager.env.yaml";
  await expect.poll(() => playground.kubectl.ok(check, [file]), reload).toContain("3 receivers");
  await expect.poll(() => condition("ConfigurationLoaded"), reload).toMatch(/^True Loaded/);
  await fire("OlderAlert");
  await fire("NewerAlert");
  const receivers = async (alert: string): Promise<readonly string[]> =>
    (await notifications(alert)).map(({ receiver }) => receiver);
  await expect.poll(() => receivers("OlderAlert"), reload).toEqual(["default/older/hook"]);
  await expect.poll(() => receivers("NewerAlert"), reload).toEqual(["default/newer/hook"]);
});
