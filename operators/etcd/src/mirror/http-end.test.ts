/** The JSON that goes over the wire, with a member that answers what a test says. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { httpEnd } from "./http-end.ts";
import { CompactedError, MirrorProblem, type WatchMessage } from "./mirror-end.ts";

type Answer = (path: string, body: Readonly<Record<string, unknown>>, response: ServerResponse) => unknown;

const base64 = (text: string): string => Buffer.from(text, "latin1").toString("base64");
const header = { cluster_id: "77", revision: "12" };

/** The source of a mirror of "/a/" at a member that answers probes, and all else with `answer`. */
async function withMember(
  answer: Answer,
  use: (end: ReturnType<typeof httpEnd>) => Promise<void>,
  endpoints: readonly string[] = [],
): Promise<void> {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece: Buffer) => (text += piece.toString()));
    request.on("end", () => {
      const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
      const isProbe = body["key"] === base64("/a/") && body["keys_only"] === true;
      const answered = isProbe ? { header } : answer(request.url ?? "", body, response);
      if (answered !== undefined) response.end(JSON.stringify(answered));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ending = new AbortController();
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const common = { side: "Source", prefix: "/a/", secretFolder: undefined, signal: ending.signal } as const;
    await use(httpEnd({ ...common, endpoints: [...endpoints, own] }));
  } finally {
    ending.abort();
    server.closeAllConnections();
    server.close();
  }
}

test("pages are of one revision, and the next begins after the last key", async () => {
  const asked: unknown[] = [];
  const answer: Answer = (_path, body) => {
    asked.push(body);
    const kv = { key: base64(asked.length === 1 ? "/a/\xff" : "/a/\xff\0"), value: "dmFsdWU=" };
    return { header, kvs: [kv], more: asked.length === 1 };
  };
  await withMember(answer, async (end) => {
    expect(await end.head()).toEqual({ clusterId: "77", revision: 12 });
    const pages = await Array.fromAsync(end.pages({ from: "/a/", to: "/a0" }, 9));
    expect(pages.map(({ entries }) => entries.map(({ key }) => key))).toEqual([["/a/\xff"], ["/a/\xff\0"]]);
  });
  const common = { range_end: base64("/a0"), limit: "1000", revision: "9" };
  expect(asked).toEqual([
    { key: base64("/a/"), ...common },
    { key: base64("/a/\xff\0"), ...common },
  ]);
});

test("a page that is too large is asked for again with fewer keys", async () => {
  const limits: unknown[] = [];
  const answer: Answer = (_path, { limit }) => {
    limits.push(limit);
    return { header, kvs: [{ key: base64("/a/x"), value: "A".repeat(limits.length === 1 ? 9 << 20 : 4) }] };
  };
  await withMember(answer, async (end) => {
    const pages = await Array.fromAsync(end.pages({ from: "/a/", to: "/a0" }));
    expect(pages.map(({ entries }) => entries)).toEqual([[{ key: "/a/x", value: "AAAA" }]]);
  });
  expect(limits).toEqual(["1000", "125"]);
});

test("a transaction holds only for the record that it is based on", async () => {
  const bodies: unknown[] = [];
  const answer: Answer = (path, body) => {
    bodies.push([path, body]);
    return bodies.length === 1 ? { header, succeeded: true } : { header };
  };
  await withMember(answer, async (end) => {
    const changes = [{ key: "/a/\xff", value: "AAAA" }, { key: "/a/gone" }];
    expect(await end.commit({ recordKey: "r", guard: 5, changes, record: "{}" })).toBe(12);
    expect(await end.commit({ recordKey: "r", guard: 5, changes: [] })).toBeUndefined();
  });
  const compare = [{ key: base64("r"), target: "MOD", result: "EQUAL", mod_revision: "5" }];
  const success = [
    { request_put: { key: base64("/a/\xff"), value: "AAAA" } },
    { request_delete_range: { key: base64("/a/gone") } },
    { request_put: { key: base64("r"), value: base64("{}") } },
  ];
  expect(bodies).toEqual([
    ["/v3/kv/txn", { compare, success }],
    ["/v3/kv/txn", { compare, success: [] }],
  ]);
});

test("a watch tells parts from whole messages, progress from events, and a compaction", async () => {
  const put = { kv: { key: base64("/a/x"), value: "AAAA", mod_revision: "13" } };
  const gone = { type: "DELETE", kv: { key: base64("/a/y"), mod_revision: "14" } };
  const lines = [
    { header: { revision: "99" }, created: true },
    { header: { revision: "99" }, events: [put], fragment: true },
    { header: { revision: "99" }, events: [gone] },
    { header: { revision: "20" } },
    { canceled: true, compact_revision: "30" },
  ];
  const seen: WatchMessage[] = [];
  const answer: Answer = (_path, _body, response) =>
    void response.end(lines.map((result) => JSON.stringify({ result })).join("\n"));
  await withMember(answer, async (end) => {
    const read = async (): Promise<void> => {
      for await (const message of end.watch({ from: "/a/", to: "/a0" }, 13)) seen.push(message);
    };
    await expect(read()).rejects.toBeInstanceOf(CompactedError);
  });
  expect(seen).toEqual([
    { events: [{ key: "/a/x", value: "AAAA", revision: 13 }], isPart: true, revision: 13 },
    { events: [{ key: "/a/y", revision: 14 }], isPart: false, revision: 14 },
    { events: [], isPart: false, revision: 20 },
  ]);
});

test("a read of a revision that is gone is a compaction, and a member that is gone is passed over", async () => {
  const answer: Answer = (_path, _body, response) => {
    response.statusCode = 400;
    return { message: "etcdserver: mvcc: required revision has been compacted" };
  };
  await withMember(
    answer,
    async (end) => {
      await expect(Array.fromAsync(end.pages({ from: "/a/", to: "/a0" }, 3))).rejects.toBeInstanceOf(CompactedError);
    },
    ["http://127.0.0.1:1"],
  );
});

test("an end that cannot be reached is named by its side", async () => {
  const signal = new AbortController().signal;
  const common = { side: "Destination", prefix: "", secretFolder: undefined, signal } as const;
  const failure = await httpEnd({ ...common, endpoints: ["http://127.0.0.1:1"] })
    .head()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(MirrorProblem);
  expect(failure).toMatchObject({ reason: "DestinationUnreachable", message: expect.stringContaining("ECONNREFUSED") });
});
