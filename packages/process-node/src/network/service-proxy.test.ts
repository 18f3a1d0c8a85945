import type { EndpointSlice, Pod, Service } from "@setpoint/api";
import { connect, createServer, type Server, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type ServiceProblem, ServiceProxy } from "./service-proxy.ts";
import { createServiceTable } from "./service-table.ts";

/** An address of the loopback network that no cluster uses. */
const clusterIP = "127.111.7.1";

/** A server on a free port of its own. */
async function backend(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return portOf(server);
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

class Cluster {
  readonly port: number;
  readonly problems: ServiceProblem[] = [];
  readonly proxy: ServiceProxy;
  services: Service[] = [];
  slices: EndpointSlice[] = [];

  constructor(port: number) {
    this.port = port;
    const table = createServiceTable(
      () => this.services,
      () => this.slices,
    );
    this.proxy = new ServiceProxy(table, (problem) => this.problems.push(problem));
    this.services = [
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web", namespace: "shop" },
        spec: { clusterIP, ports: [{ name: "http", port }] },
      },
    ];
    onTestFinished(() => this.proxy[Symbol.asyncDispose]());
  }

  /** One slice a backend, because each has a port of its own here. */
  endpoints(...ports: number[]): this {
    this.slices = ports.map((port, i) => ({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: `web-${i}`, namespace: "shop", labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      ports: [{ name: "http", port }],
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
    }));
    return this;
  }

  /** Sends, ends its side, and gives what comes back; rejects when the connection is refused or reset. */
  ask(text: string | Buffer = ""): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: clusterIP, port: this.port, allowHalfOpen: true });
      const chunks: Buffer[] = [];
      socket.on("data", (chunk: Buffer) => chunks.push(chunk));
      socket.once("end", () => resolve(Buffer.concat(chunks).toString()));
      socket.once("error", reject);
      socket.end(text);
    });
  }
}

const named = (name: string) => backend((socket) => void socket.on("error", () => {}).end(name));

test("connections go to the ready endpoints in turn", async () => {
  const cluster = new Cluster(18_080).endpoints(await named("a"), await named("b"), await named("c"));
  cluster.proxy.update();
  const answers = [];
  for (let i = 0; i < 6; i++) answers.push(await cluster.ask());
  expect(answers.slice(0, 3).sort()).toEqual(["a", "b", "c"]);
  expect(answers.slice(3)).toEqual(answers.slice(0, 3));
});

test("a change of endpoints counts from the next connection on, and open ones stay", async () => {
  const echo = await backend((socket) => void socket.pipe(socket));
  const cluster = new Cluster(18_081).endpoints(echo);
  cluster.proxy.update();
  const open = connect({ host: clusterIP, port: 18_081 });
  onTestFinished(() => void open.destroy());
  await new Promise<void>((resolve) => open.write("one", () => resolve()));
  expect(await next(open)).toBe("one");
  cluster.endpoints(await named("new"));
  expect(await cluster.ask()).toBe("new");
  open.write("two");
  expect(await next(open)).toBe("two");
});

const next = (socket: Socket): Promise<string> =>
  new Promise((resolve) => socket.once("data", (data: Buffer) => resolve(data.toString())));

test("without ready endpoints a connection is refused, and one that is dead is passed over", async () => {
  const cluster = new Cluster(18_082).endpoints();
  cluster.proxy.update();
  await expect(cluster.ask()).rejects.toMatchObject({ code: "ECONNRESET" });
  const dead = await named("dead");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const closed = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  cluster.endpoints(closed, dead);
  expect(await cluster.ask()).toBe("dead");
  expect(await cluster.ask()).toBe("dead");
});

test("a client may finish writing and go on reading, and nothing of 20 MB is lost", async () => {
  const counting = await backend((socket) => {
    let bytes = 0;
    socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
    socket.once("end", () => socket.end(`${bytes} ${"x".repeat(5_000_000)}`));
  });
  const cluster = new Cluster(18_083).endpoints(counting);
  cluster.proxy.update();
  const answer = await cluster.ask(Buffer.alloc(20_000_000));
  expect(answer.slice(0, 9)).toBe("20000000 ");
  expect(answer.length).toBe(5_000_009);
});

test("a Service that is gone is not listened for any more", async () => {
  const cluster = new Cluster(18_084).endpoints(await named("a"));
  cluster.proxy.update();
  expect(await cluster.ask()).toBe("a");
  cluster.services = [];
  cluster.proxy.update();
  await expect(cluster.ask()).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("an address in use is reported once, and served as soon as it is free", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(18_085, clusterIP, resolve));
  const cluster = new Cluster(18_085).endpoints(await named("a"));
  cluster.proxy.update();
  await expect.poll(() => cluster.problems.length).toBe(1);
  expect(cluster.problems[0]).toMatchObject({ address: `${clusterIP}:18085`, code: "EADDRINUSE" });
  cluster.proxy.update();
  cluster.proxy.retry();
  await new Promise((resolve) => other.close(resolve));
  await expect
    .poll(async () => {
      cluster.proxy.retry();
      return cluster.ask().catch(() => "");
    })
    .toBe("a");
  expect(cluster.problems.length).toBe(1);
});

test("a node listens on node ports and on the host ports of its pods, at its own address and at 127.0.0.1", async () => {
  const [web, other, free] = [await named("web"), await named("other"), await named("free")];
  const cluster = new Cluster(web).endpoints(web);
  const [nodePort, hostPort] = [free + 1, free + 2];
  const [service] = cluster.services;
  if (service === undefined) throw new Error("no Service");
  const node = {
    ...service,
    spec: { ...service.spec, type: "NodePort" as const, ports: [{ name: "http", port: web, nodePort }] },
  };
  const ports = [{ containerPort: other, hostPort }];
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "other" },
    spec: { containers: [{ name: "main", image: "x", ports }] },
  };
  const table = createServiceTable(
    () => [node],
    () => cluster.slices,
  );
  const place = { address: "127.111.8.1", hostAddresses: ["127.111.8.1", "127.0.0.1"] };
  await using proxy = new ServiceProxy(table, () => {}, {
    node: { ...place, pods: () => [{ pod, address: "127.0.0.1" }] },
  });
  proxy.update();
  const ask = (host: string, port: number): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host, port });
      socket.once("error", (error) => resolve(error.message));
      socket.once("data", (data: Buffer) => resolve(data.toString()));
    });
  for (const host of place.hostAddresses) {
    await expect.poll(() => ask(host, nodePort)).toBe("web");
    expect(await ask(host, hostPort)).toBe("other");
  }
});
