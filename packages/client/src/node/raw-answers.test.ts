import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { createKind, failure, isApiError, type KubeObject } from "@setpoint/apimachinery";
import { systemHost } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { createClient } from "../create-client.ts";
import { httpTransport } from "./http-transport.ts";

const Box = createKind<KubeObject>({ group: "", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
const items = Array.from({ length: 500 }, (_, i) => ({ metadata: { name: `box-${i}` }, text: "ä".repeat(i) }));
const list = JSON.stringify({ kind: "BoxList", metadata: { resourceVersion: "7" }, items });

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host = systemHost({ write: () => undefined });
  const transport = httpTransport({ server: `http://127.0.0.1:${port}`, clock: host.clock });
  const { raw } = createClient(transport, { ...host, attemptsMax: 1 });
  if (raw === undefined) throw new Error("the HTTP transport offers bytes");
  return {
    raw,
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const json = { "content-type": "application/json" };

async function collected(batches: AsyncIterable<readonly Uint8Array[]>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const batch of batches) for (const each of batch) found.push(JSON.parse(Buffer.from(each).toString()));
  return found;
}

test("a compressed list comes as its items, one by one, and its revision", async () => {
  await using server = await serve((request, response) => {
    expect(request.headers["accept-encoding"]).toBe("gzip");
    response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(gzipSync(list));
  });
  const { batches, metadata } = await server.raw.list(Box);
  expect(await collected(batches)).toEqual(items);
  expect(metadata().resourceVersion).toBe("7");
});

test("a list comes in batches of little work, however large the pieces are that it is inflated to", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(gzipSync(list));
  });
  const { batches } = await server.raw.list(Box);
  const longestItem = Math.max(...items.map((item) => Buffer.byteLength(JSON.stringify(item))));
  for await (const batch of batches) {
    const bytes = batch.reduce((sum, each) => sum + each.length, 0);
    expect(bytes).toBeLessThanOrEqual(16 * 1024 + longestItem);
  }
});

test("a list whose connection is cut is an error, however much of it has come", async () => {
  await using server = await serve((_, response) => {
    response.writeHead(200, json).write(list.slice(0, -100));
    setTimeout(() => response.destroy(), 20);
  });
  const { batches } = await server.raw.list(Box);
  await expect(collected(batches)).rejects.toMatchObject({ code: "ERR_CONNECTION_LOST" });
});

test("an answer that is not a list says why", async () => {
  const status = failure(403, "Forbidden", "boxes is forbidden");
  await using server = await serve((_, response) => void response.writeHead(403, json).end(JSON.stringify(status)));
  const error: unknown = await server.raw.list(Box).catch((error: unknown) => error);
  expect(isApiError(error) && error.code).toBe(403);
});

test("the objects of a watch are bytes, in whatever form the server writes its frames", async () => {
  const object = { metadata: { name: "a" } };
  await using server = await serve((_, response) => {
    const spaced = `{ "object": ${JSON.stringify(object)}, "type": "MODIFIED" }`;
    response.writeHead(200, json).end(`${JSON.stringify({ type: "ADDED", object })}\n${spaced}\n`);
  });
  const found: unknown[] = [];
  for await (const batch of await server.raw.watch(Box))
    for (const { type, object } of batch) found.push([type, JSON.parse(Buffer.from(object).toString())]);
  expect(found).toEqual([
    ["ADDED", object],
    ["MODIFIED", object],
  ]);
});
