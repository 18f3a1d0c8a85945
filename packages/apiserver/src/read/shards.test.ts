import {
  formatShardSelector,
  type KubeList,
  matchesShard,
  shardRangeOf,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { startServer } from "../assembly/server.fixture.ts";

const path = "/api/v1/namespaces/default/configmaps";
const shards = [0, 1, 2].map((index) => ({ field: "uid" as const, ranges: [shardRangeOf(index, 3)] }));

async function world(features: { readonly shardedListAndWatch?: boolean }) {
  const { server } = startServer({ features });
  const transport = server.transport({ username: "ada", groups: [] });
  const create = async (name: string): Promise<void> => {
    await transport.send({
      method: "POST",
      path,
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name } },
    });
  };
  for (let n = 0; n < 12; n++) await create(`c${n}`);
  const list = async (query: Readonly<Record<string, string>>): Promise<KubeList & { readonly message?: string }> => {
    const answer = await transport.send({ method: "GET", path, query });
    return (answer.kind === "object" ? answer.object : {}) as KubeList;
  };
  return { transport, create, list };
}

test("the shards of a list are parts of it, each says which, and together they are all", async () => {
  const { list } = await world({ shardedListAndWatch: true });
  const lists = await Promise.all(shards.map((shard) => list({ shardSelector: formatShardSelector(shard) })));
  for (const [index, each] of lists.entries()) {
    const [shard] = shards.slice(index);
    expect(each.metadata.shardInfo).toEqual({ selector: shard === undefined ? "" : formatShardSelector(shard) });
    expect(each.items.length).toBeGreaterThan(0);
    expect(each.items.every((item) => shard !== undefined && matchesShard(shard, item))).toBe(true);
  }
  expect(lists.flatMap(({ items }) => items)).toHaveLength(12);
});

test("pages of a shard are pages of what is in it", async () => {
  const { list } = await world({ shardedListAndWatch: true });
  const shardSelector = shards.slice(0, 1).map(formatShardSelector).join("");
  const whole = await list({ shardSelector });
  const names: unknown[] = [];
  for (let next: string | undefined = ""; next !== undefined;) {
    const page: KubeList = await list({ shardSelector, limit: "1", continue: next });
    expect(page.items.length).toBeLessThanOrEqual(1);
    names.push(...page.items.map(({ metadata }) => metadata.name));
    next = page.metadata.continue;
  }
  expect(names).toEqual(whole.items.map(({ metadata }) => metadata.name));
});

test("a watch of a shard shows what is in it", async () => {
  const { transport, create, list } = await world({ shardedListAndWatch: true });
  const shardSelector = shards.slice(0, 1).map(formatShardSelector).join("");
  const { metadata, items } = await list({});
  const query = { watch: "1", resourceVersion: metadata.resourceVersion ?? "", shardSelector };
  const abort = new AbortController();
  const answer = await transport.send({ method: "GET", path, query }, abort.signal);
  for (let n = 0; n < 12; n++) await create(`later${n}`);
  const all = await list({});
  const later = all.items.filter(({ metadata: { uid } }) => items.every((each) => each.metadata.uid !== uid));
  const expected = later.filter((each) => shards.slice(0, 1).every((shard) => matchesShard(shard, each)));
  expect(expected.length).toBeGreaterThan(0);
  const names: unknown[] = [];
  if (answer.kind === "watch")
    for await (const { object } of answer.frames)
      if (names.push((object as UnstructuredObject).metadata.name) === expected.length) break;
  abort.abort();
  expect(new Set(names)).toEqual(new Set(expected.map(({ metadata: { name } }) => name)));
});

test("what is no shard selector is refused as by a real server, and without the feature it says nothing", async () => {
  const wrong = "shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')";
  const on = await world({ shardedListAndWatch: true });
  const supported = "object.metadata.uid, object.metadata.namespace";
  expect((await on.list({ shardSelector: wrong })).message).toBe(
    `invalid shard selector: unsupported field path "object.metadata.name"; supported: ${supported}`,
  );
  const off = await world({});
  const { items, metadata } = await off.list({ shardSelector: wrong });
  expect(items).toHaveLength(12);
  expect(metadata.shardInfo).toBeUndefined();
});
