import { describe, expect, test } from "vitest";
import type { UpgradeReport } from "../../instance/upgrade-protocol.ts";
import { labels } from "../../kind/labels.ts";
import type { PostgresCluster } from "../../kind/postgres-cluster.ts";
import type { Seen, SeenInstance } from "../../seen/seen.ts";
import { upgradePhase, upgradeSilence, type UpgradeStatus } from "../../seen/upgrade.ts";
import { plan, rules } from "../plan.ts";
import type { PostgresStep } from "../postgres-step.ts";
import { cluster, type InstanceSketch, nowMs, primary, replica, seen } from "../situation.fixture.ts";
import { wantedDocument } from "../wanted.ts";

const [a, b, c] = ["orders-1", "orders-2", "orders-3"] as const;
const id = "15-17-2";
const image = "docker.io/library/postgres:17";
const base: UpgradeStatus = { phase: "Preparing", id, from: "15", to: "17", instance: b, previousSystemID: "77" };
const completed = {
  phase: "Completed",
  upgradedAt: "2026-01-01T00:00:00.000Z",
  safetyCopy: { instance: b, version: "15", until: "2026-01-08T00:00:00.000Z" },
} as const;
const problems = ["pg_upgrade: reg* in public.odd.what"];

/** The data are of `version`, and the user asks for `wanted`. */
function asking(
  wanted: "15" | "17",
  version: "15" | "17",
  upgrade?: Partial<UpgradeStatus>,
  facts: Partial<Seen> = {},
): Partial<Seen> {
  const status = upgrade === undefined ? {} : { upgrade: { ...base, ...upgrade } };
  const present: PostgresCluster = cluster({ version }, { dataVersion: version, ...status });
  return { cluster: present, asked: { ...present.spec, version: wanted }, ...facts };
}

function withPrograms(instance: SeenInstance): SeenInstance {
  const { pod } = instance;
  if (pod === undefined) return instance;
  const annotations = { ...pod.metadata.annotations, [labels.nextImage]: image };
  return { ...instance, pod: { ...pod, metadata: { ...pod.metadata, annotations } } };
}

const of = (version: "15" | "17"): InstanceSketch => ({
  template: JSON.stringify([`docker.io/library/postgres:${version}`, {}, ""]),
});
const saying = (upgrade: Partial<UpgradeReport>, more = {}): InstanceSketch => ({
  ...of("15"),
  report: { version: "15.18", upgrade: { id, state: "checking", ...upgrade }, ...more },
});
const whole = (second: SeenInstance = replica(b, of("15"))): readonly SeenInstance[] => [
  primary(a, of("15")),
  second,
  replica(c, of("15")),
];
const able = (upgrade: Partial<UpgradeReport>): readonly SeenInstance[] =>
  whole(withPrograms(replica(b, saying(upgrade))));
/** The instance with both versions is the primary, and its server has stopped. */
const stopped = (
  upgrade: Partial<UpgradeReport>,
  received = "0/5000100",
  more: InstanceSketch = {},
): readonly SeenInstance[] => [
  replica(a, { ...of("15"), report: { position: received, isStreaming: false } }),
  withPrograms(
    primary(b, { ...saying(upgrade, { server: "stopped", isPrimary: undefined, position: "0/5000000" }), ...more }),
  ),
  replica(c, { ...of("15"), report: { position: "0/5000100", isStreaming: false } }),
];
const held = (phase: UpgradeStatus["phase"], more: Partial<Seen> = {}, upgrade: Partial<UpgradeStatus> = {}) => {
  const version = phase === "Starting" ? "17" : "15";
  const facts = asking("17", version, { phase, timeline: 4, ...upgrade });
  const at = facts.cluster as PostgresCluster;
  return { ...facts, cluster: { ...at, status: { ...at.status, primary: b } } as PostgresCluster, ...more };
};
const since = (matter: string, ms: number): Partial<Seen> => ({ memory: { since: { [matter]: nowMs - ms } } });
const started = (sketch: InstanceSketch): readonly SeenInstance[] => [
  replica(a, of("17")),
  primary(b, { ...of("17"), ...sketch }),
  replica(c, of("17")),
];
const onNew = { systemId: "88", version: "17.6" } as const;

type Row = readonly [situation: string, instances: readonly SeenInstance[], facts: Partial<Seen>, step: string];

/** In the order of the phases. */
const rows: readonly Row[] = [
  ["version 17 is asked for", whole(), asking("17", "15"), "advanceUpgrade Preparing"],
  ["in a dry run nothing begins", whole(), dry(asking("17", "15")), "wait"],
  ["a replica does not follow yet", whole(replica(b, { ...of("15"), ready: false })), asking("17", "15"), "wait"],
  ["its pod has one version", whole(), asking("17", "15", {}), "restartInstance orders-2"],
  ["its pod has both", able({}), asking("17", "15", {}), "advanceUpgrade Checking"],
  ["it checks", able({}), asking("17", "15", { phase: "Checking" }), "wait"],
  [
    "it answers for another attempt",
    able({ id: "old", state: "compatible" }),
    asking("17", "15", { phase: "Checking" }),
    "wait",
  ],
  [
    "the data are refused",
    able({ state: "refused", problems }),
    asking("17", "15", { phase: "Checking" }),
    "advanceUpgrade Refused",
  ],
  [
    "they are still refused",
    able({ state: "refused", problems }),
    asking("17", "15", { phase: "Refused", problems }),
    "wait",
  ],
  [
    "the user repaired them",
    able({ state: "compatible" }),
    asking("17", "15", { phase: "Refused", problems }),
    "depose orders-1",
  ],
  [
    "the user gives up",
    able({ state: "refused", problems }),
    asking("15", "15", { phase: "Refused", problems }),
    "advanceUpgrade none",
  ],
  [
    "outside of the window it goes on later",
    able({ state: "compatible" }),
    asking("17", "15", { phase: "Checking" }, { closed: "the window opens later" }),
    "wait",
  ],
  [
    "the instance with both versions is the primary",
    [withPrograms(primary(a, saying({ state: "compatible" }))), replica(b, of("15")), replica(c, of("15"))],
    asking("17", "15", { phase: "Checking", instance: a }),
    "advanceUpgrade Stopping",
  ],
  ["its server stops", stopped({}, "0/5000100", saying({}, { server: "stopping" })), held("Stopping"), "wait"],
  ["a replica lacks the end of the log", stopped({}, "0/5000000"), held("Stopping"), "wait"],
  [
    "it lacks it for a minute",
    stopped({}, "0/5000000"),
    held("Stopping", since(upgradePhase("Stopping"), 60_000)),
    "advanceUpgrade Failed",
  ],
  ["all have the end of the log", stopped({}), held("Stopping"), "advanceUpgrade Upgrading"],
  [
    "the user takes it back",
    stopped({}),
    { ...held("Stopping"), asked: cluster({ version: "15" }).spec },
    "advanceUpgrade Failed",
  ],
  ["the data are copied", stopped({ state: "upgrading" }), held("Upgrading"), "wait"],
  [
    "nobody answers for five minutes",
    stopped({}, "0/5000100", { report: "silent" }),
    held("Upgrading", since(upgradeSilence, 300_000)),
    "advanceUpgrade Failed",
  ],
  ["its pod is gone", stopped({}, "0/5000100", { pod: "missing" }), held("Upgrading"), "startInstances orders-2"],
  ["pg_upgrade fails", stopped({ state: "failed", problems }), held("Upgrading"), "advanceUpgrade Failed"],
  ["the data are of 17", stopped({ state: "upgraded", systemId: "88" }), held("Upgrading"), "startOnVersion 17 88"],
  ["pods of 15 are left", stopped({}), held("Starting"), "stopInstances orders-1,orders-2,orders-3"],
  ["17 serves", started({ report: onNew }), held("Starting"), "advanceUpgrade Analyzing"],
  [
    "17 does not start for ten minutes",
    started({ report: { ...onNew, server: "stopped", isPrimary: undefined } }),
    held("Starting", since(upgradePhase("Starting"), 600_000)),
    "advanceUpgrade Returning",
  ],
  [
    "statistics are computed",
    started({ report: { ...onNew, isAnalyzing: true } }),
    held("Analyzing", { cluster: onSeventeen({ phase: "Analyzing" }) }),
    "wait",
  ],
  [
    "statistics are there",
    started({ report: onNew }),
    held("Analyzing", { cluster: onSeventeen({ phase: "Analyzing" }) }),
    "advanceUpgrade Completed",
  ],
  ["it failed, and is not tried again by itself", whole(), asking("17", "15", { phase: "Failed", problems }), "wait"],
  ["a new try", whole(), asking("15", "15", { phase: "Failed", problems }), "advanceUpgrade none"],
  [
    "the user goes back",
    started({ report: onNew }),
    { cluster: onSeventeen(completed), asked: cluster({ version: "15" }).spec },
    "advanceUpgrade Returning",
  ],
  [
    "the safety copy is gone",
    started({ report: onNew }),
    { cluster: onSeventeen({ phase: "Completed" }), asked: cluster({ version: "15" }).spec },
    "wait",
  ],
  [
    "17 still runs",
    started({ report: onNew }),
    { cluster: onSeventeen({ ...completed, phase: "Returning" }), asked: cluster({ version: "15" }).spec },
    "stopInstances orders-1,orders-2,orders-3",
  ],
  [
    "17 has ended",
    [primary(a, { pod: "missing" }), replica(b, { pod: "missing" }), replica(c, { pod: "missing" })],
    { cluster: onSeventeen({ ...completed, phase: "Returning" }), asked: cluster({ version: "15" }).spec },
    "startOnVersion 15 77",
  ],
  [
    "15 serves again",
    [replica(a, of("15")), primary(b, of("15")), replica(c, of("15"))],
    { ...held("Returning"), asked: cluster({ version: "15" }).spec },
    "advanceUpgrade Returned",
  ],
  [
    "15 serves again after 17 did not",
    [replica(a, of("15")), primary(b, of("15")), replica(c, of("15"))],
    held("Returning", {}, { problems }),
    "advanceUpgrade Failed",
  ],
];

function onSeventeen(upgrade: Partial<UpgradeStatus>): PostgresCluster {
  return cluster(
    { version: "17" },
    { dataVersion: "17", primary: b, systemID: "88", upgrade: { ...base, ...upgrade } },
  );
}

function dry(facts: Partial<Seen>): Partial<Seen> {
  const { asked = cluster().spec, cluster: present = cluster() } = facts;
  return { cluster: { ...present, spec: { ...present.spec, dryRun: true } }, asked: { ...asked, dryRun: true } };
}

/** `advanceUpgrade Checking`, `wait`: what a row says of a step. */
function shown(step: PostgresStep): string {
  if (step.kind !== "act") return step.kind;
  switch (step.action) {
    case "advanceUpgrade":
      return `advanceUpgrade ${step.args.upgrade?.phase ?? "none"}`;
    case "startOnVersion":
      return `startOnVersion ${step.args.version} ${step.args.systemId}`;
    case "depose":
      return `depose ${step.args.primary}`;
    default:
      return [step.action, ...Object.values(step.args).map(String)].join(" ");
  }
}

describe("plan of an upgrade", () => {
  test.each(rows.map(([situation, instances, facts, step]) => [situation, step, seen(instances, facts)] as const))(
    "%s → %s",
    (_, step, snapshot) => {
      expect(shown(plan(snapshot, 0))).toBe(step);
    },
  );

  test("both rules speak", () => {
    const names = rows.map(([, instances, facts]) => {
      const snapshot = seen(instances, facts);
      return rules.find((each) => each.step(snapshot) !== undefined)?.name;
    });
    expect(names).toEqual(expect.arrayContaining(["upgrade that holds the instances", "upgrade"]));
  });

  test("the timeline of the upgraded data is one that nobody has begun", () => {
    const instances = [
      withPrograms(primary(a, saying({ state: "compatible" }, { timeline: 3 }))),
      replica(b, of("15")),
      replica(c, of("15")),
    ];
    const facts = asking("17", "15", { phase: "Checking", instance: a });
    const step = plan(seen(instances, { ...facts, memory: { since: {}, lastTimeline: 5 } }), 0);
    expect(step).toMatchObject({ args: { upgrade: { timeline: 6 } } });
  });

  test("the document asks the instance of the upgrade alone, and for the newest timeline on the way back", () => {
    const { cluster: present } = held("Returning") as { cluster: PostgresCluster };
    const status = { ...present.status, lastTimeline: 7 } as NonNullable<PostgresCluster["status"]>;
    const document = wantedDocument(seen(whole(), { ...held("Returning"), cluster: { ...present, status } }));
    expect(document).toMatchObject({ dataVersion: "15", upgrade: { instance: b, step: "return", timeline: 7 } });
  });
});
