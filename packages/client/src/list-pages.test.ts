import {
  createKind,
  failure,
  type ApiRequest,
  type ApiResponse,
  type KubeObject,
  type Transport,
} from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";

const Box = createKind<KubeObject>({
  group: "example.com",
  version: "v1",
  kind: "Box",
  plural: "boxes",
  namespaced: true,
});

/** A server with seven boxes that gives pages; at the answer of this number its history is compacted. */
function pagedServer(compactedAt: number): { readonly transport: Transport; readonly asked: string[] } {
  const asked: string[] = [];
  const all = Array.from({ length: 7 }, (_, i) => Box({ name: `box-${i}`, namespace: "default" }));
  const answer = ({ query = {} }: ApiRequest): ApiResponse => {
    asked.push(new URLSearchParams(query as Record<string, string>).toString());
    if (asked.length === compactedAt) {
      const object = failure(410, "Expired", "The provided continue parameter is too old");
      return { kind: "object", status: 410, headers: {}, object };
    }
    const from = Number(query["continue"] ?? 0);
    const to = from + Number(query["limit"]);
    const metadata = { resourceVersion: "100", ...(to < all.length ? { continue: String(to) } : {}) };
    const object = { kind: "BoxList", apiVersion: "example.com/v1", metadata, items: all.slice(from, to) };
    return { kind: "object", status: 200, headers: {}, object };
  };
  return { transport: { send: (request) => Promise.resolve(answer(request)) }, asked };
}

const names = (items: readonly KubeObject[]): string => items.map(({ metadata }) => metadata.name).join();
const every = "box-0,box-1,box-2,box-3,box-4,box-5,box-6";

test("a list is read in pages at one revision", async () => {
  const { transport, asked } = pagedServer(0);
  const { items, resourceVersion } = await createClient(transport, simulatedHost(1)).listAll(Box, {
    pageSize: 3,
    resourceVersion: "0",
  });
  expect(names(items)).toBe(every);
  expect(resourceVersion).toBe("100");
  // A revision is not allowed beside a token, which has its own.
  expect(asked).toEqual(["limit=3&resourceVersion=0", "limit=3&continue=3", "limit=3&continue=6"]);
});

test("a list whose revision is compacted on the way begins again, so that it is never of two revisions", async () => {
  const { transport, asked } = pagedServer(3);
  expect(names((await createClient(transport, simulatedHost(1)).listAll(Box, { pageSize: 3 })).items)).toBe(every);
  expect(asked).toEqual([
    "limit=3",
    "limit=3&continue=3",
    "limit=3&continue=6",
    "limit=3",
    "limit=3&continue=3",
    "limit=3&continue=6",
  ]);
});

test("a list without items, as servers in Go may write it, is empty", async () => {
  const object = { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata: {}, items: null };
  const transport = { send: () => Promise.resolve({ kind: "object" as const, status: 200, headers: {}, object }) };
  expect((await createClient(transport, simulatedHost(1)).listAll(Box)).items).toEqual([]);
});
