import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { sleep } from "@setpoint/host";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { systemClock, systemHost, systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { createClient } from "../create-client.ts";
import { httpTransport } from "./http-transport.ts";

const Box = createKind<KubeObject>({ group: "", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
/** Does not get smaller, so that more is on its way than buffers take. */
const items = Array.from({ length: 1_500 }, (_, i) => ({
  metadata: { name: `box-${i}` },
  text: randomBytes(9_000).toString("base64"),
}));
const zipped = gzipSync(JSON.stringify({ kind: "BoxList", metadata: { resourceVersion: "7" }, items }));

/** A server that sends a compressed list but for its end, and never comes to it. */
async function serve() {
  const authority = createCertificateAuthority({ clock: systemClock, random: systemRandom });
  const { certificate, key } = authority.issueServer({ commonName: "kube-apiserver", hosts: ["127.0.0.1"] });
  const answers: ServerResponse[] = [];
  const server = createServer({ cert: certificate, key }, (_, response) => {
    answers.push(response);
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.write(zipped.subarray(0, -1_000));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host = systemHost({ write: () => undefined });
  const connection = { server: `https://127.0.0.1:${port}`, clock: host.clock, ca: authority.certificate };
  const transport = httpTransport(connection);
  const { raw } = createClient(transport, { ...host, attemptsMax: 1 });
  if (raw === undefined) throw new Error("the HTTP transport offers bytes");
  return {
    raw,
    cut: () => answers[0]?.destroy(),
    async [Symbol.asyncDispose]() {
      await transport[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads slowly: what happens between its first look and its second finds it far behind. */
async function readWith(batches: AsyncIterable<unknown>, meanwhile: () => void): Promise<void> {
  let isFirst = true;
  for await (const _ of batches) {
    if (!isFirst) continue;
    isFirst = false;
    meanwhile();
    await sleep(systemClock, 300);
  }
}

test("a compressed list that is cut while its reader is behind is an error, not a wait without end", async () => {
  await using server = await serve();
  const { batches } = await server.raw.list(Box);
  await expect(readWith(batches, server.cut)).rejects.toMatchObject({ code: "ERR_CONNECTION_LOST" });
});

test("a compressed list that is cut before it is read is an error of the reader", async () => {
  await using server = await serve();
  const { batches } = await server.raw.list(Box);
  server.cut();
  await sleep(systemClock, 300);
  await expect(readWith(batches, () => {})).rejects.toMatchObject({ code: "ERR_CONNECTION_LOST" });
});

test("a reader who gives up a compressed list while it is behind gets its own reason", async () => {
  await using server = await serve();
  const stop = new AbortController();
  const { batches } = await server.raw.list(Box, { signal: stop.signal });
  const reading = readWith(batches, () => stop.abort(new Error("the manager stops")));
  await expect(reading).rejects.toThrow("the manager stops");
});
