import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import type { Verdict } from "./acts/act.ts";
import { catalogue } from "./acts/catalogue.ts";
import { type ActResult, ComplianceProbe } from "./kind/compliance-probe.ts";
import { parseBaseline } from "./observe/read-baseline.ts";
import tool from "./tool.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-compliance-"));
afterAll(() => rmSync(folder, { recursive: true }));

const at = "2026-11-28T12:00:00Z";

function result(act: string, verdict: Verdict, more: Partial<ActResult> = {}): ActResult {
  return { act, verdict, reason: `${act} <was tried>`, firstSeen: at, since: at, ...more };
}

/** Writes a probe with these results; resolves to its path. */
function probeFile(name: string, results: readonly ActResult[], failure?: string): string {
  const probe = ComplianceProbe({ name: "shop", namespace: "team", spec: {} });
  const lastRun = { number: 1, pod: "shop-run-1", startedAt: at, finishedAt: at, generation: 1 };
  const status = { results, lastRun: failure === undefined ? lastRun : { ...lastRun, failure } };
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify({ ...probe, status }));
  return path;
}

async function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const code = await tool(args, { out: (text) => void (out += text), err: (text) => void (err += text) });
  return { code, out, err };
}

const bad = [
  result("mount", "Allowed"),
  result("bpf", "Denied"),
  result("ptrace", "Allowed", { accepted: "debugger" }),
];

test("the code is 1 when an act is allowed that is not accepted, and the line says what denies it", async () => {
  const { code, out } = await run("check", "--file", probeFile("bad", bad));
  expect(code).toBe(1);
  expect(out.split("\n")).toEqual([
    "Allowed mount: mount <was tried>; drop all capabilities, and run as another user than 0: Pod Security restricted",
    "Allowed ptrace (accepted: debugger): ptrace <was tried>",
    "team/shop: 1 denied, 2 allowed, 0 could not be tried; 1 must be denied and is not",
    "",
  ]);
});

test("the code is 0 when all is denied or accepted, and 2 when no run has tried all", async () => {
  expect((await run("check", "--file", probeFile("good", bad.slice(1)))).code).toBe(0);
  expect((await run("check", "--file", probeFile("none", []))).code).toBe(2);
  expect((await run("check", "--file", probeFile("half", bad.slice(1), "OOMKilled"))).code).toBe(2);
});

test("compared with a baseline only what is new counts, and what is fixed is shown", async () => {
  const before = probeFile("before", [result("mount", "Allowed"), result("bpf", "Allowed")]);
  const same = await run("check", "--file", probeFile("same", bad), "--baseline", before);
  expect(same.code).toBe(0);
  expect(same.out).toContain("Allowed mount (known to the baseline)");
  expect(same.out).toContain("Denied  bpf (fixed to the baseline)");
  const worse = await run("check", "--file", probeFile("worse", [result("setuid", "Allowed")]), "--baseline", before);
  expect(worse.code).toBe(1);
});

test("accept prints a ConfigMap that a probe can use as its baseline", async () => {
  const { code, out } = await run("accept", "--file", probeFile("bad", bad), "--until", "2027-01-01T00:00:00Z");
  expect(code).toBe(0);
  const map = parse(out) as { readonly metadata: object; readonly data: Readonly<Record<string, string>> };
  expect(map.metadata).toEqual({ name: "shop-accepted", namespace: "team" });
  expect(parseBaseline(map.data["accepted.yaml"] ?? "")).toMatchObject([
    { act: "mount", until: "2027-01-01T00:00:00Z" },
  ]);
});

interface Sarif {
  readonly version: string;
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
    readonly results: readonly Readonly<Record<string, unknown>>[];
  }[];
}

test("SARIF has a rule for each act, and a result with its level, suppression and state", async () => {
  const path = join(folder, "report.sarif");
  const before = probeFile("before", [result("ptrace", "Allowed")]);
  await run("check", "--file", probeFile("bad", bad), "--baseline", before, "--sarif", path);
  const { version, runs } = JSON.parse(readFileSync(path, "utf8")) as Sarif;
  expect(version).toBe("2.1.0");
  expect(runs[0]?.tool.driver.rules.map(({ id }) => id)).toEqual(catalogue.map(({ name }) => name));
  expect(runs[0]?.results).toMatchObject([
    { ruleId: "mount", kind: "fail", level: "error", baselineState: "new" },
    { ruleId: "bpf", kind: "pass", level: "none", baselineState: "unchanged" },
    { ruleId: "ptrace", kind: "fail", level: "note", suppressions: [{ justification: "debugger" }] },
  ]);
  for (const { ruleId, ruleIndex } of runs[0]?.results ?? [])
    expect(runs[0]?.tool.driver.rules[ruleIndex as number]?.id).toBe(ruleId);
});

test("HTML is one file that shows what is allowed first, and takes no text for markup", async () => {
  const path = join(folder, "report.html");
  await run("check", "--file", probeFile("bad", bad), "--html", path);
  const html = readFileSync(path, "utf8");
  expect(html).toContain("mount &lt;was tried&gt;");
  expect(html).not.toMatch(/<was tried>|<script|src=|href=/);
  expect(html.indexOf("<strong>ptrace")).toBeLessThan(html.indexOf("<strong>bpf"));
});

test.each([[["check"]], [["check", "a", "b"]], [["check", "a", "--file", "b"]], [["fly", "a"]]])(
  "%j is refused",
  async (args) => {
    await expect(run(...args)).rejects.toThrow("Cannot run the command: expected check NAME");
  },
);

test.each([
  ["- act: mount\n  reason: x\n  until: soon\n", /until: expected a time/],
  ["act: mount\n", /expected array/],
  ["- [", /./],
])("the baseline %j is refused with its reason", (text, reason) => {
  expect(parseBaseline(text)).toMatch(reason);
});
