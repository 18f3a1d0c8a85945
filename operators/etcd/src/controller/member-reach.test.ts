/** A dry run outside of the cluster: no pod answers. */
import { expect, test } from "vitest";
import type { EtcdGateway } from "../gateway/etcd-gateway.ts";
import { MemberReach } from "./member-reach.ts";
import { a, b, cluster } from "./situation.fixture.ts";

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
  readonly signal: AbortSignal;
  readonly controller: Parameters<MemberReach["ask"]>[3]["controller"];
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
  return { reported, signal: new AbortController().signal, controller: { ...others, cannotReach } };
}

const pods = new Map([a(), b()].flatMap(({ name, pod }) => (pod === undefined ? [] : [[name, pod] as const])));

test("a planned change goes on with the status, and asks nobody again who did not answer", async () => {
  const { gateway, asked } = unreachable();
  const reach = new MemberReach();
  const context = contextOf({ isDryRun: true });
  const planned = cluster({ dryRun: true });
  expect(await reach.ask(planned, pods, gateway, context)).toEqual(new Map());
  expect(reach.isLost(planned)).toBe(true);
  expect(await reach.ask(planned, pods, gateway, context)).toEqual(new Map());
  expect(asked).toHaveLength(pods.size);
  expect(new Set(context.reported)).toEqual(new Set(["the members and the leader in its status"]));
});

test("without a planned change the run of a dry run ends: silence is not a failure of the members", async () => {
  const context = contextOf({ isDryRun: true });
  const asking = new MemberReach().ask(cluster({}), pods, unreachable().gateway, context);
  await expect(asking).rejects.toThrow("the run ends");
  expect(context.reported).toEqual(["the pods of its members"]);
});

test("in the cluster, silent members are asked each time", async () => {
  const { gateway, asked } = unreachable();
  const reach = new MemberReach();
  for (const _ of [1, 2]) await reach.ask(cluster({ dryRun: true }), pods, gateway, contextOf({ isDryRun: false }));
  expect(asked).toHaveLength(2 * pods.size);
});

test("members that did not start yet are no reason to end a dry run", async () => {
  const context = contextOf({ isDryRun: true });
  await new MemberReach().ask(cluster({}), new Map(), unreachable().gateway, context);
  expect(context.reported).toEqual([]);
});
