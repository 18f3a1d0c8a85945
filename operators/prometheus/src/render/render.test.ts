import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import tool from "../tool.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-render-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly code: number;
  readonly jobs: readonly (readonly string[])[];
  readonly text: string;
  readonly problems: string;
}

async function render(name: string, text: string, ...flags: readonly string[]): Promise<Run> {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, text);
  let out = "";
  let problems = "";
  const output = { out: (more: string) => (out += more), err: (more: string) => (problems += more) };
  const code = await tool(["render", file, ...flags], {
    out: (more) => void output.out(more),
    err: (more) => void output.err(more),
  });
  const documents = [...parseAllDocuments(out)].map(
    (document) => document.toJS() as { readonly scrape_configs?: readonly { readonly job_name: string }[] } | null,
  );
  const jobs = documents.map((document) => (document?.scrape_configs ?? []).map(({ job_name: job }) => job));
  return { code, jobs: out === "" ? [] : jobs, text: out, problems };
}

function prometheus(name: string, spec: string): string {
  return `---\napiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
}

function monitor(name: string, namespace: string, endpoint = "{port: web}"): string {
  return `---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {selector: {}, endpoints: [${endpoint}]}\n`;
}

test("each Prometheus is a document, with the monitors that it selects", async () => {
  const all = "{serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}}";
  const objects = [
    prometheus("b", "{serviceMonitorSelector: {}}"),
    prometheus("a", all),
    monitor("x", "default"),
    monitor("z", "shop"),
  ];
  const { code, jobs, text } = await render("two", objects.join(""));
  expect(code).toBe(0);
  expect(text.match(/^# .*$/gm)).toEqual(['# Prometheus "default/a"', '# Prometheus "default/b"']);
  expect(jobs).toEqual([["serviceMonitor/default/x/0", "serviceMonitor/shop/z/0"], ["serviceMonitor/default/x/0"]]);
});

test("Secrets of the files are used, and what is left out is reported", async () => {
  const secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {token: abc}\n";
  const good = monitor("good", "default", "{authorization: {credentials: {name: login, key: token}}}");
  const bad = monitor("bad", "default", "{authorization: {credentials: {name: none, key: token}}}");
  const { code, jobs, text, problems } = await render(
    "secret",
    prometheus("a", "{serviceMonitorSelector: {}}") + secret + good + bad,
  );
  expect(code).toBe(0);
  expect(jobs).toEqual([["serviceMonitor/default/good/0"]]);
  expect(text).toContain("credentials: abc");
  expect(problems).toBe(
    'Prometheus "default/a": left out: ServiceMonitor "default/bad": spec.endpoints[0].authorization.credentials: key "token" of Secret "default/none" does not exist; create it\n',
  );
});

test("Probes and ScrapeConfigs are jobs too", async () => {
  const all = "{probeSelector: {}, scrapeConfigSelector: {}}";
  const probe =
    "---\napiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: p}\n" +
    "spec: {prober: {url: prober}, targets: {staticConfig: {static: [a]}}}\n";
  const scrape =
    "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: s}\n" +
    "spec: {staticConfigs: [{targets: [b]}]}\n";
  const { code, jobs } = await render("more", scrape + probe + prometheus("a", all));
  expect(code).toBe(0);
  expect(jobs).toEqual([["probe/default/p", "scrapeConfig/default/s"]]);
});

test("a version is for a Prometheus that names none", async () => {
  const objects =
    prometheus("a", "{serviceMonitorSelector: {}}") + prometheus("b", "{serviceMonitorSelector: {}, version: v2.53.3}");
  const { text } = await render("version", objects, "--version", "v3.13.1");
  expect(text.match(/retention/g)).toHaveLength(1);
});

test("a Prometheus that cannot be realised has no document", async () => {
  const { code, jobs, problems } = await render("refused", prometheus("a", "{podMonitorSelector: {}, version: v1}"));
  expect(code).toBe(1);
  expect(jobs).toEqual([]);
  expect(problems).toBe('Prometheus "default/a": spec.version: expected a version 2 or 3 of Prometheus, got "v1"\n');
});

test("a List is its items, and other kinds are passed over", async () => {
  const item = (name: string): string => monitor(name, "default").replace("---\n", "").replaceAll("\n", "\n  ");
  const list = `---\napiVersion: v1\nkind: List\nitems:\n- ${item("x")}\n`;
  const other = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n";
  const { jobs } = await render("list", prometheus("a", "{serviceMonitorSelector: {}}") + list + other);
  expect(jobs).toEqual([["serviceMonitor/default/x/0"]]);
});

test("a field of a wrong type names the file and the field", async () => {
  await expect(render("wrong", prometheus("a", "{replicas: many}"))).rejects.toThrow(/replicas/);
});

test("an Alertmanager is a document too, with the AlertmanagerConfigs of both versions that it selects", async () => {
  const config = (version: string, name: string): string =>
    `---\napiVersion: monitoring.coreos.com/${version}\nkind: AlertmanagerConfig\nmetadata: {name: ${name}}\n` +
    "spec: {route: {receiver: r}, receivers: [{name: r}]}\n";
  const alertmanager =
    "---\napiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: main}\n" +
    "spec: {alertmanagerConfigSelector: {}}\n";
  const broken = config("v1alpha1", "broken").replace("receiver: r}", "receiver: none}");
  const files = alertmanager + config("v1alpha1", "older") + config("v1beta1", "newer") + broken;
  const { code, text, problems } = await render("alertmanager", files);
  expect(code).toBe(0);
  expect([...text.matchAll(/- name: (\S+)/g)].map(([, name]) => name)).toEqual([
    '"null"',
    "default/newer/r",
    "default/older/r",
  ]);
  expect(problems).toBe(
    'Alertmanager "default/main": left out: AlertmanagerConfig "default/broken": spec.route.receiver: there is no receiver "none" in spec.receivers\n',
  );
});

test("an agent is a document too, without rules", async () => {
  const agent = prometheus("main", "{serviceMonitorSelector: {}, ruleSelector: {}}")
    .replace("monitoring.coreos.com/v1", "monitoring.coreos.com/v1alpha1")
    .replace("kind: Prometheus", "kind: PrometheusAgent");
  const { code, jobs, text, problems } = await render("agent", agent + monitor("x", "default"));
  expect([code, jobs]).toEqual([0, [["serviceMonitor/default/x/0"]]]);
  expect(text).toContain('# PrometheusAgent "default/main"');
  expect(text).not.toContain("rule_files");
  expect(problems).toContain("spec.ruleSelector: this operator does not act on this field");
});

test("a ThanosRuler is its arguments and its rules", async () => {
  const ruler = prometheus("main", "{ruleSelector: {}, queryEndpoints: ['query:9090']}").replace(
    "kind: Prometheus",
    "kind: ThanosRuler",
  );
  const rule =
    "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r}\n" +
    "spec: {groups: [{name: g, rules: [{record: a, expr: b}]}]}\n";
  const { code, text } = await render("ruler", ruler + rule);
  expect(code).toBe(0);
  expect(text).toContain('# ThanosRuler "default/main"\narguments:\n  - rule\n');
  expect(text).toContain("- --query=query:9090");
  expect(text).toContain("record: a");
});
