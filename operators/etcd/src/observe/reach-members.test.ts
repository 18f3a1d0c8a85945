/** A dry run outside of the cluster: no pod answers. */
import { expect, test } from "vitest";
import { type Logger, silentLogger } from "@setpoint/host";
import { EtcdError, type EtcdGateway } from "../gateway/etcd-gateway.ts";
import { noReach, reachMembers } from "./reach-members.ts";
import { etcdConditions } from "../status/status.ts";
import { a, b, c, cluster, nowMs, seen, step } from "../plan/situation.fixture.ts";
import { plan } from "../plan/plan.ts";

/** Members behind a network that answers nothing; `asked` counts the calls that time out. */
function unreachable(): { readonly gateway: EtcdGateway; readonly asked: string[] } {
  const asked: string[] = [];
  const status = (endpoint: string): Promise<never> => {
    asked.push(endpoint);
    return Promise.reject(new Error("timeout"));
  };
  return { gateway: { status } as unknown as EtcdGateway, asked };
}

interface Context {
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly controller: Parameters<typeof reachMembers>[4]["controller"];
}

/** `reported`: what did not answer, and what is used instead. */
function contextOf({ isDryRun }: { readonly isDryRun: boolean }): Context & { readonly reported: string[] } {
  const reported: string[] = [];
  const cannotReach = (what: string, instead?: string): boolean => {
    if (!isDryRun) return false;
    reported.push(instead ?? what);
    if (instead === undefined) throw new Error("the run ends");
    return true;
  };
  const others = { fieldManager: "etcd", cluster: undefined, outdated: () => undefined, changesOutside: () => {} };
  return { reported, log: silentLogger, signal: new AbortController().signal, controller: { ...others, cannotReach } };
}

const pods = new Map([a(), b()].flatMap(({ name, pod }) => (pod === undefined ? [] : [[name, pod] as const])));

test("a planned change goes on with the status, and asks nobody again who did not answer", async () => {
  const { gateway, asked } = unreachable();
  const context = contextOf({ isDryRun: true });
  const planned = cluster({ dryRun: true });
  const first = await reachMembers(planned, pods, gateway, noReach, context);
  expect(first).toMatchObject({ statuses: new Map(), reach: { isLost: true } });
  expect((await reachMembers(planned, pods, gateway, first.reach, context)).statuses).toEqual(new Map());
  expect(asked).toHaveLength(pods.size);
  expect(new Set(context.reported)).toEqual(new Set(["the members and the leader in its status"]));
});

test("without a planned change the run of a dry run ends: silence is not a failure of the members", async () => {
  const context = contextOf({ isDryRun: true });
  const asking = reachMembers(cluster({}), pods, unreachable().gateway, noReach, context);
  await expect(asking).rejects.toThrow("the run ends");
  expect(context.reported).toEqual(["the pods of its members"]);
});

test("in the cluster, silent members are asked each time", async () => {
  const { gateway, asked } = unreachable();
  let reach = noReach;
  for (const _ of [1, 2])
    ({ reach } = await reachMembers(cluster({ dryRun: true }), pods, gateway, reach, contextOf({ isDryRun: false })));
  expect(asked).toHaveLength(2 * pods.size);
});

test("members that did not start yet are no reason to end a dry run", async () => {
  const context = contextOf({ isDryRun: true });
  await reachMembers(cluster({}), new Map(), unreachable().gateway, noReach, context);
  expect(context.reported).toEqual([]);
});

/** Members whose calls end with these errors. */
function answering(errors: Readonly<Record<string, Error>>): EtcdGateway {
  const status = (endpoint: string): Promise<never> => Promise.reject(errors[endpoint] ?? new Error("timeout"));
  return { status } as unknown as EtcdGateway;
}

function podsOf(members: readonly ReturnType<typeof a>[]): typeof pods {
  return new Map(members.flatMap(({ name, pod }) => (pod === undefined ? [] : [[name, pod] as const])));
}

test.each([
  [
    "serve by their nodes",
    podsOf([a(), b()]),
    {},
    /2 of its pods are ready.*\(a: timeout\); run the operator in the cluster/,
  ],
  ["are not ready by their nodes either", podsOf([a({ serves: false }), b({ serves: false })]), {}, undefined],
  [
    "refuse the login",
    podsOf([a(), b()]),
    { "http://127.64.0.2:2379": new EtcdError("user name is empty") },
    undefined,
  ],
])("silent members that %s are out of reach, or not", async (_, present, errors, text) => {
  const lines: string[] = [];
  const context = {
    ...contextOf({ isDryRun: false }),
    log: { ...silentLogger, warn: (line: string) => void lines.push(line) },
  };
  let reach = noReach;
  for (const _ of [1, 2]) {
    const answers = await reachMembers(cluster(), present, answering(errors), reach, context);
    const { unreached } = answers;
    ({ reach } = answers);
    if (text === undefined) expect(unreached).toBeUndefined();
    else expect(unreached).toMatch(text);
  }
  expect(lines).toEqual(text === undefined ? [] : ["Members are not reached"]);
});

test("members out of reach are left alone, and the status says so in place of a guess", () => {
  const silent = { answers: false, serves: true, listed: false } as const;
  const members = [a(silent), b(silent), c({ ...silent, pod: "Failed", volume: true })];
  for (const status of [{}, { clusterID: undefined }]) {
    const situation = seen(members, {
      cluster: cluster({}, status),
      quorum: false,
      unreached: "out of reach",
      clusterIds: [],
    });
    expect(plan(situation, nowMs)).toMatchObject({ kind: "wait", reason: "out of reach" });
    const facts = { now: "2026-01-01T00:10:00Z", since: "2026-01-01T00:10:00Z" };
    const conditions = etcdConditions(situation, plan(situation, nowMs), facts);
    for (const type of ["Available", "Degraded"])
      expect(conditions.find((each) => each.type === type)).toMatchObject({
        status: "Unknown",
        message: "out of reach",
      });
  }
  const first = cluster({}, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
  const situation = seen(members, { cluster: first, quorum: false, clusterIds: [] });
  expect([step(situation), step({ ...situation, unreached: "out of reach" })]).toEqual(["deletePod c", "wait"]);
});
