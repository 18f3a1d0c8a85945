/** One row a rule, in the order of the list: a situation in which it speaks although all others are asked. */
import { expect, test } from "vitest";
import type { CertificateReport } from "@setpoint/data-service";
import { claims } from "../testing/etcd-stage.ts";
import { plan } from "./plan.ts";
import { rules } from "./rules.ts";
import { a, b, c, cluster, member, nowMs, seen } from "./situation.fixture.ts";
import type { Situation } from "./situation.ts";

const all = [a({ volume: true }), b({ volume: true }), c({ volume: true })];
const unfounded = cluster({}, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
const away = { quorum: false, clusterIds: [] } as const;
const silent = { answers: false, volume: true } as const;
const certificates = { due: { step: { kind: "leaf" }, why: "they end soon" } } as unknown as CertificateReport;
const restore = {
  mark: { id: "r1", state: "stop" },
  prepared: [],
  before: [],
  older: [],
  current: [],
  restored: [],
} as const;
const locked = { cluster: cluster({ ...claims, auth: { enabled: true }, tls: { mode: "Enabled" } }) } as const;
const recorded = { fenced: ["x"], state: "Recovered" } as const;
const slow = { slowDisks: { members: [{ name: "c", since: "2026-01-01T00:00:00Z", p99Milliseconds: 900 }] } };
const replacing = cluster({ healing: { slowDisk: "replace", slowDiskMilliseconds: 500, slowDiskSeconds: 600 } }, slow);
const disks = new Map([
  ["a", { p99Ms: 1, slowForMs: 0 }],
  ["b", { p99Ms: 1, slowForMs: 0 }],
  ["c", { p99Ms: 900, slowForMs: 700_000 }],
]);

const rows: readonly (readonly [rule: string, situation: Situation])[] = [
  ["paused", seen([], { cluster: cluster({ paused: true }) })],
  ["restore", seen(all, { restore })],
  ["service name taken", seen(all, { serviceTaken: "orders" })],
  ["fields refused", seen([], { ...away, cluster: unfounded, refusals: [{ field: "spec.version", why: "unknown" }] })],
  ["certificates", seen(all, { certificates })],
  ["services", seen(all, { servicesToApply: ["orders"] })],
  ["volume owner", seen(all, { misowned: ["b"] })],
  ["labels", seen(all, { mislabelled: ["b"] })],
  ["login without a quorum", seen([a(silent)], { ...away, ...locked, authentication: "Refused" })],
  ["out of reach", seen(all, { ...away, unreached: "no member answers" })],
  ["first start", seen([], { ...away, cluster: unfounded })],
  ["split brain", seen(all, { clusterIds: ["c1", "c2"] })],
  ["fencing", seen(all, { cluster: cluster(claims), fencing: { fenced: ["c"], refused: [] } })],
  ["hibernation", seen(all, { cluster: cluster({ ...claims, hibernated: true }) })],
  ["no quorum", seen([a(silent), b(silent), c(silent)], away)],
  ["login", seen(all, { ...locked, authentication: "Off" })],
  ["after a recovery", seen(all, { cluster: cluster({}, { quorumRecovery: recorded }), givenUp: [member("x")] })],
  ["budget", seen(all, { needsBudget: true })],
  ["cleanup", seen([...all, member("x", { listed: false })])],
  ["healing", seen([a(), b(), c({ pod: "Failed" })])],
  ["learner", seen([...all.slice(0, 2), c({ learner: true })])],
  ["unready disk", seen([a(), b(), c({ serves: false })], { cluster: replacing, disks })],
  ["health", seen([a(), b(), c({ serves: false })])],
  ["while fenced", seen([a(), b(), c({ pod: "gone", volume: true })], { fencing: { fenced: ["c"], refused: [] } })],
  ["no space", seen([a({ noSpace: true }), b(), c()])],
  ["dry run", seen(all, { cluster: cluster({ dryRun: true, size: 5 }) })],
  ["size", seen(all, { cluster: cluster({ size: 5 }) })],
  ["slow disk", seen(all, { cluster: replacing, disks })],
  ["changes", seen(all, { outdated: ["b"] })],
  ["defragmentation", seen([a(), b(), c({ dbSizeMiB: 200, inUseMiB: 10 })])],
  ["volume size", seen(all, { cluster: cluster(claims), small: ["b"] })],
  ["rest", seen(all)],
];

test.each(rows)("the rule %s speaks", (rule, situation) => {
  expect(plan(situation, nowMs).rule).toBe(rule);
});

test("each rule can be reached, and has its row here, in the order of the list", () => {
  expect(rows.map(([rule]) => rule)).toEqual(rules.map(({ name }) => name));
});
