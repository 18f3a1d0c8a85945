/**
 * Serves a large list, compressed as kube-apiserver does it, and a watch that stays silent: a process of its
 * own. It stands for another machine, so what the list costs its server is done before it is asked.
 */
import { createServer } from "node:http";
import { once } from "node:events";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { widgetJson } from "./widget-json.ts";

const count = Number(process.argv[2]);
const resourceVersion = String(count + 1);
const list = await compressedList();

const server = createServer((request, response) => {
  const query = new URL(request.url ?? "/", "http://localhost").searchParams;
  response.writeHead(200, {
    "content-type": "application/json",
    ...(query.has("watch") ? {} : { "content-encoding": "gzip" }),
  });
  if (query.has("watch")) response.flushHeaders();
  else Readable.from(list).pipe(response);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.(address.port);
});
process.once("disconnect", () => process.exit());

async function compressedList(): Promise<readonly Buffer[]> {
  const gzip = createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  gzip.on("data", (chunk: Buffer) => chunks.push(chunk));
  gzip.write(`{"apiVersion":"bench.example.com/v1","items":[`);
  for (let i = 0; i < count; i++) {
    if (!gzip.write((i === 0 ? "" : ",") + widgetJson(i))) await once(gzip, "drain");
  }
  gzip.end(`],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"${resourceVersion}"}}\n`);
  await once(gzip, "end");
  return chunks;
}
