/** Serves a large list, compressed as kube-apiserver does it, and a watch that stays silent: a process of its own. */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import { createGzip } from "node:zlib";
import { widgetJson } from "./widget-json.ts";

const count = Number(process.argv[2]);
const resourceVersion = String(count + 1);

const server = createServer((request, response) => {
  const query = new URL(request.url ?? "/", "http://localhost").searchParams;
  response.writeHead(200, {
    "content-type": "application/json",
    ...(query.has("watch") ? {} : { "content-encoding": "gzip" }),
  });
  if (query.has("watch")) response.flushHeaders();
  else void sendList(response);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.(address.port);
});
process.once("disconnect", () => process.exit());

async function sendList(response: ServerResponse): Promise<void> {
  const gzip = createGzip({ level: 1 });
  gzip.pipe(response);
  gzip.write(`{"apiVersion":"bench.example.com/v1","items":[`);
  for (let i = 0; i < count; i++) {
    if (!gzip.write((i === 0 ? "" : ",") + widgetJson(i))) await once(gzip, "drain");
  }
  gzip.end(`],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"${resourceVersion}"}}\n`);
}
