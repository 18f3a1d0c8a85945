/**
 * 24 2.7: `kubectl port-forward` works. Stock kubectl, over a WebSocket and over SPDY, to a pod and to a
 * Service.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { startCluster } from "@setpoint/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Kubectl, type Running } from "./kubectl/kubectl.ts";
import { script } from "./kubectl/manifests.ts";

let kubectl: Kubectl;
const parts = new AsyncDisposableStack();

/** Sends back what comes, and says goodbye when the client has ended its side. */
const server = `require("node:net").createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("error", () => {});
  socket.on("data", (data) => socket.write(data));
  socket.on("end", () => socket.end("bye"));
}).listen(8000)`;

beforeAll(async () => {
  const cluster = parts.use(await startCluster({ directory: undefined, port: 0, nodes: 1, say: () => {} }));
  kubectl = parts.use(new Kubectl(cluster.kubeconfig));
  await kubectl.ok("apply -f -", [], { input: script("echo", server) });
  await kubectl.ok("label pod echo app=echo");
  await kubectl.ok("create service clusterip echo --tcp=80:8000");
  await kubectl.ok("wait --for=condition=Ready pod/echo --timeout=30s");
});
afterAll(() => parts[Symbol.asyncDispose]());

interface Forward extends AsyncDisposable {
  readonly port: number;
  /** What kubectl has written to its error output. */
  errors(): string;
}

/** Starts `kubectl port-forward` with a free local port, and resolves when it listens. */
async function forward(target: string, port: number, env: Readonly<Record<string, string>>): Promise<Forward> {
  const running: Running = kubectl.run(`port-forward ${target} :${port}`, [], { env });
  const { child } = running;
  let errors = "";
  child.stderr?.on("data", (text) => (errors += String(text)));
  const local = Promise.withResolvers<number>();
  child.stdout?.on("data", (text) => {
    const [, found] = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(String(text)) ?? [];
    if (found !== undefined) local.resolve(Number(found));
  });
  void running.then(() => local.reject(new Error(`kubectl port-forward ended: ${errors}`)));
  return {
    port: await local.promise,
    errors: () => errors,
    async [Symbol.asyncDispose]() {
      child.kill();
      await running;
    },
  };
}

/** Sends a text, ends its side, and returns everything that comes back. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  await once(socket, "connect");
  socket.end(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const ways = {
  "over a WebSocket": { KUBECTL_PORT_FORWARD_WEBSOCKETS: "true" },
  "over SPDY": { KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" },
};

describe.each(Object.entries(ways))("kubectl port-forward works %s", (_way, env) => {
  test("to a pod, for connections one after the other and at the same time", async () => {
    await using forwarded = await forward("pod/echo", 8000, env);
    expect(await exchange(forwarded.port, "hello")).toBe("hellobye");
    const texts = Array.from({ length: 20 }, (_, i) => `number ${i}, `.repeat(1 + i));
    expect(await Promise.all(texts.map((text) => exchange(forwarded.port, text)))).toEqual(
      texts.map((text) => `${text}bye`),
    );
    expect(forwarded.errors()).toBe("");
  });

  test("with more bytes than any buffer holds", async () => {
    await using forwarded = await forward("pod/echo", 8000, env);
    const text = "0123456789abcdef".repeat(500_000);
    const answer = await exchange(forwarded.port, text);
    expect(answer.length).toBe(text.length + 3);
    expect(answer === `${text}bye`).toBe(true);
  });

  test("to a Service", async () => {
    await using forwarded = await forward("service/echo", 80, env);
    expect(await exchange(forwarded.port, "hello")).toBe("hellobye");
  });

  test("and says when nothing listens on the port", async () => {
    await using forwarded = await forward("pod/echo", 8001, env);
    expect(await exchange(forwarded.port, "hello").catch(() => "")).toBe("");
    await expect.poll(forwarded.errors).toContain("cannot reach port 8001");
  });
});
