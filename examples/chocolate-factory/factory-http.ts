/** The factory over HTTP: `node factory-http.ts 8090` runs one, and `connectFactory` is its client. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { z } from "zod";
import { Factory, type Bar, type FactoryApi } from "./factory.ts";

const bodyBytesMax = 10_000;
const orderTimeoutMs = 5_000;

const Order = z.object({ key: z.string().min(1).max(300), sugar: z.number().min(-100).max(200) });
const Made = z.object({ id: z.string(), machine: z.number(), sugar: z.number(), sweetness: z.number() });

/** POST /bars makes a bar, GET /bars?key=… finds one, DELETE /bars/ID disposes of one. */
export function serveFactory(factory: FactoryApi, port: number): Server {
  const server = createServer((request, response) => {
    answer(factory, request, response).catch((error: unknown) => reply(response, 400, { error: String(error) }));
  });
  return server.listen(port, "127.0.0.1");
}

async function answer(factory: FactoryApi, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://factory");
  if (request.method === "POST" && url.pathname === "/bars") {
    const { key, sugar } = Order.parse(JSON.parse(await bodyOf(request)));
    return reply(response, 201, await factory.order(key, sugar));
  }
  if (request.method === "GET" && url.pathname === "/bars") {
    const bar = await factory.find(url.searchParams.get("key") ?? "");
    return bar === undefined ? reply(response, 404, {}) : reply(response, 200, bar);
  }
  if (request.method === "DELETE" && url.pathname.startsWith("/bars/")) {
    await factory.dispose(url.pathname.slice("/bars/".length));
    return reply(response, 200, {});
  }
  reply(response, 404, {});
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > bodyBytesMax)
      throw new Error(`Cannot read the order: it has more than ${bodyBytesMax} characters`);
  }
  return text;
}

function reply(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** A client of a factory at `url`. A request that gets no answer in 5 s throws; the operator retries it. */
export function connectFactory(url: string): FactoryApi {
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(new URL(path, url), { ...init, signal: AbortSignal.timeout(orderTimeoutMs) });
    if (response.ok || response.status === 404) return response;
    throw new Error(`Cannot ${init.method} ${path} at the factory: it answered ${response.status}`);
  };
  const barOf = async (response: Response): Promise<Bar> => Made.parse(await response.json());
  return {
    async find(key) {
      const response = await send(`/bars?key=${encodeURIComponent(key)}`, { method: "GET" });
      return response.status === 404 ? undefined : barOf(response);
    },
    order: async (key, sugar) => barOf(await send("/bars", { method: "POST", body: JSON.stringify({ key, sugar }) })),
    dispose: async (id) => void (await send(`/bars/${encodeURIComponent(id)}`, { method: "DELETE" })),
  };
}

if (import.meta.main) {
  const port = Number(process.argv[2] ?? 8090);
  // Machine 3 wears: each of its bars is half a point sweeter than the one before.
  serveFactory(
    new Factory({ random: Math.random, machines: [{ offset: 0 }, { offset: 1 }, { offset: 0, wear: 0.5 }] }),
    port,
  );
  console.log(`The factory listens on http://127.0.0.1:${port}`);
}
