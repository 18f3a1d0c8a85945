import type { EndpointSlice, Pod, Service } from "@setpoint/api";
import { createServer } from "node:net";
import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@setpoint/host/system";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { holdNamespace, readHolder } from "./namespace-holder.ts";
import { askFromHost, apiAddress, missing, NetworkWorld, readAll, TestPod } from "./namespace.fixture.ts";
import { createNamespaceNetwork } from "./namespace-network.ts";
import { NamespaceSockets } from "./namespace-sockets.ts";
import { PodSockets } from "./pod-sockets.ts";
import { policyRules } from "./policy-rules.ts";
import { replaceTable } from "./replace-table.ts";
import { applyRules } from "./run-in-namespace.ts";
import { hostPorts, servicePorts } from "./service-ports.ts";
import { nodeNamespaceRules, serviceRules } from "./service-rules.ts";
import { createServiceTable } from "./service-table.ts";

const nodeAddress = "10.64.0.1";

describe.skipIf(missing !== "")(`pods with network namespaces of their own${missing}`, () => {
  let world: NetworkWorld;
  let [web, other]: TestPod[] = [];
  const pod = (name: "web" | "other"): TestPod => {
    const found = name === "web" ? web : other;
    if (found === undefined) throw new Error(`no pod ${name}`);
    return found;
  };
  beforeAll(async () => {
    world = await NetworkWorld.start();
    [web, other] = [await world.pod("web"), await world.pod("other")];
    await web.serve(8080, "web");
    await other.serve(8080, "other");
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("pods reach each other on 0.0.0.0, and the agent reaches them", async () => {
    expect(await pod("other").ask(pod("web").address, 8080)).toBe(`web ${pod("other").address}`);
    expect(await pod("web").ask(pod("web").address, 8080)).toBe(`web ${pod("web").address}`);
    expect(await pod("web").ask("127.0.0.1", 8080)).toBe("web 127.0.0.1");
    expect(await readAll(await world.network.connect(pod("web").address, 8080))).toBe("web 10.64.15.255");
    await expect(world.network.connect(pod("web").address, 9)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("a program that listens on the pod's loopback address alone is reached from inside, as for port-forward", async () => {
    await pod("web").serve(9090, "inside", "127.0.0.1");
    await expect(world.network.connect(pod("web").address, 9090)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    const inside = (uid: string) => world.network.connectInside(uid, 9090);
    expect(await readAll(await inside("web"))).toBe("inside 127.0.0.1");
    expect(await readAll(await inside("web"))).toBe("inside 127.0.0.1");
    await expect(inside("other")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await expect(inside("nobody")).rejects.toMatchObject({ code: "ERR_NETWORK" });
  });

  test("attaching a pod again changes nothing, and a lost interface comes back", async () => {
    await world.network.attach("web", pod("web").holderPid);
    expect(await pod("other").ask(pod("web").address, 8080)).toBe(`web ${pod("other").address}`);
    await world.network.detach("web");
    expect(await pod("other").ask(pod("web").address, 8080)).not.toContain("web");
    await world.network.attach("web", pod("web").holderPid);
    expect(await pod("other").ask(pod("web").address, 8080)).toBe(`web ${pod("other").address}`);
  });

  test("a pod is attached again by an agent whose block was taken while no agent was running", async () => {
    const moved = await world.pod("moved");
    onTestFinished(() => moved[Symbol.asyncDispose]());
    const { namespace, sockets } = world.cluster;
    await using podSockets = new PodSockets(systemClock);
    const next = await createNamespaceNetwork({
      file: join(world.folder, "moved.json"),
      claim: async (address) => address !== "127.64.0.1",
      namespace,
      sockets,
      podSockets,
      ensureRules: () => world.update(),
    });
    await next.attach("moved", moved.holderPid);
    await moved.serve(8080, "moved");
    expect(next.addressOf("moved")).not.toBe(moved.address);
    expect(await readAll(await next.connect(next.addressOf("moved"), 8080))).toContain("moved");
  });

  test("a pod reaches nothing of the host and nothing of the cluster's namespace but the API and DNS", async () => {
    const server = createServer((socket) => socket.end("host"));
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    expect(await askFromHost("127.64.0.1", port)).toBe("host");
    for (const address of ["127.0.0.1", "127.64.0.1", "10.64.0.1", "169.254.1.1", apiAddress])
      expect(await pod("web").ask(address, port)).toBe("ECONNREFUSED");
    expect(await pod("web").ask("192.0.2.1", port)).toMatch(/ECONNREFUSED|ENETUNREACH|EHOSTUNREACH/);
    const api = await world.cluster.sockets.listen(apiAddress, 443);
    onTestFinished(() => void api.close());
    api.on("connection", (socket) => socket.end(`api ${socket.remoteAddress}`));
    expect(await pod("web").ask(apiAddress, 443)).toBe(`api ${pod("web").address}`);
  });

  test("a pod that takes another's address is not heard", async () => {
    const { holderPid } = pod("web");
    const spoofed = pod("other").address.replace(/\d+$/, "77");
    spawnSync("nsenter", ["--net", "--target", `${holderPid}`, "ip", "addr", "add", `${spoofed}/32`, "dev", "eth0"]);
    const script = `
      const socket = require("net").connect({ host: "${pod("other").address}", port: 8080, localAddress: process.argv[1] });
      socket.on("error", () => process.exit()).on("data", (data) => console.log(String(data)));
      setTimeout(() => process.exit(), 1000).unref();`;
    const heard = async (source: string): Promise<string> => {
      const command = ["--net", "--target", `${holderPid}`, process.execPath, "-e", script, source];
      return (await promisify(execFile)("nsenter", command)).stdout;
    };
    expect(await heard(pod("web").address)).toContain("other");
    expect(await heard(spoofed)).toBe("");
  });

  test("a Service's address leads to ready endpoints, also to the pod itself, over TCP and UDP", async () => {
    const service = (name: string, clusterIP: string, more: object = {}): Service => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "shop" },
      spec: { clusterIP, ports: [{ port: 80 }], ...more },
    });
    const slice = (name: string, pods: readonly TestPod[], protocol: "TCP" | "UDP" = "TCP"): EndpointSlice => ({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name, namespace: "shop", labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      ports: [{ port: 8080, protocol }],
      endpoints: pods.map(({ address }) => ({ addresses: [address] })),
    });
    const both = [pod("web"), pod("other")];
    const table = createServiceTable(
      () => [
        service("both", "10.96.240.20"),
        service("sticky", "10.96.240.21", { sessionAffinity: "ClientIP" }),
        service("none", "10.96.240.22"),
        service("self", "10.96.240.23"),
        service("udp", "10.96.240.24", { ports: [{ port: 80, protocol: "UDP" }] }),
        service("stolen", "10.96.240.25"),
        service("dns", "10.96.240.10"),
      ],
      () => [
        slice("both", both),
        slice("dns", both),
        slice("sticky", both),
        slice("self", [pod("web")]),
        slice("udp", [pod("other")], "UDP"),
        { ...slice("stolen", []), endpoints: [{ addresses: ["127.0.0.1"] }, { addresses: ["192.0.2.1"] }] },
      ],
    );
    const own = [pod("web"), pod("other")].map(({ address }) => ({
      address,
      namespace: "shop",
      labels: {},
      ports: new Map(),
    }));
    const nothing = { policies: [], namespaces: [], pods: own };
    world.rules =
      policyRules(nothing, own, { apiAddress, nodeAddress }) +
      serviceRules({
        podCidr: world.network.podCidr,
        nodeAddress,
        services: servicePorts(table, { nodeAddress, dnsAddress: "10.96.240.10" }),
        hostPorts: [],
      });
    await world.update();
    const names = new Set<string>();
    for (let i = 0; i < 20; i++) names.add((await pod("web").ask("10.96.240.20", 80)).split(" ")[0] ?? "");
    expect([...names].sort()).toEqual(["other", "web"]);
    const sticky = new Set<string>();
    for (let i = 0; i < 8; i++) sticky.add(await pod("web").ask("10.96.240.21", 80));
    expect(sticky.size).toBe(1);
    expect(await pod("web").ask("10.96.240.22", 80)).toBe("ECONNREFUSED");
    expect(await pod("web").ask("10.96.240.23", 80)).toBe("web 10.64.0.1");
    expect(await pod("web").ask("10.96.240.25", 80)).toBe("ECONNREFUSED");
    // Cluster DNS, whatever a Service says.
    expect(await pod("web").ask("10.96.240.10", 80)).toBe("ECONNREFUSED");
    const echo = await pod("other").sockets.bind("0.0.0.0", 8080);
    onTestFinished(() => void echo.close());
    echo.on("message", (message, { port, address }) => echo.send(`heard ${message.toString()}`, port, address));
    const client = await pod("web").sockets.bind("0.0.0.0", 0);
    onTestFinished(() => void client.close());
    const heard = new Promise<string>((resolve) => client.once("message", (message) => resolve(message.toString())));
    client.send("hello", 80, "10.96.240.24");
    expect(await heard).toBe("heard hello");
  });

  test("node ports and host ports lead to pods at the node's address, from pods and from the node's own namespace", async () => {
    const { namespace, sockets } = world.cluster;
    await using podSockets = new PodSockets(systemClock);
    const file = join(world.folder, "node-namespace.json");
    const network = await createNamespaceNetwork({
      file: join(world.folder, "network.json"),
      claim: async () => true,
      namespace,
      sockets,
      podSockets,
      ensureRules: () => world.update(),
      nodeNamespace: { clock: systemClock, file },
    });
    // The next agent finds it: its address is no longer the cluster's.
    const again = await createNamespaceNetwork({
      file: join(world.folder, "network.json"),
      claim: async () => true,
      namespace,
      sockets,
      podSockets,
      ensureRules: () => world.update(),
      nodeNamespace: { clock: systemClock, file },
    });
    expect(again.nodeHolderPid).toBe(network.nodeHolderPid);
    const holderPid = network.nodeHolderPid ?? 0;
    onTestFinished(() => void process.kill(holderPid, "SIGKILL"));
    const service: Service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "shop" },
      spec: { type: "NodePort", clusterIP: "10.96.240.30", ports: [{ port: 80, nodePort: 30_080 }] },
    };
    const slice: EndpointSlice = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "web", namespace: "shop", labels: { "kubernetes.io/service-name": "web" } },
      addressType: "IPv4",
      ports: [{ port: 8080, protocol: "TCP" }],
      endpoints: [{ addresses: [pod("web").address] }],
    };
    const table = createServiceTable(
      () => [service],
      () => [slice],
    );
    const ports = [
      { containerPort: 8080, hostPort: 9_090 },
      { containerPort: 8080, hostPort: 9_091, hostIP: "127.0.0.1" },
    ];
    const other: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "other" },
      spec: { containers: [{ name: "main", image: "x", ports }] },
    };
    const served = {
      nodeAddress,
      services: servicePorts(table, { nodeAddress, dnsAddress: "10.96.240.10" }),
      hostPorts: hostPorts([{ pod: other, address: pod("other").address }], nodeAddress),
    };
    const nothing = { policies: [], namespaces: [], pods: [] };
    const self = [{ address: pod("web").address, namespace: "shop", labels: {}, ports: new Map<string, number>() }];
    world.rules =
      policyRules(nothing, self, { apiAddress, nodeAddress }) +
      serviceRules({ podCidr: world.network.podCidr, ...served });
    await world.update();
    const node = { holderPid, isRootless: false };
    await applyRules(node, replaceTable("setpoint-node", "", nodeNamespaceRules(served)));
    const client = pod("web");
    expect(await client.ask(nodeAddress, 30_080)).toContain("web");
    expect(await client.ask(nodeAddress, 9_090)).toContain("other");
    expect(await client.ask(nodeAddress, 9_091)).toBe("ECONNREFUSED");
    await using inside = new NamespaceSockets(node);
    const ask = async (...to: [string, number]): Promise<string> => readAll(await inside.connect(...to));
    expect(await ask(nodeAddress, 30_080)).toContain("web 10.64.0.1");
    expect(await ask("127.0.0.1", 30_080)).toContain("web 10.64.0.1");
    expect(await ask("127.0.0.1", 9_090)).toContain("other");
    expect(await ask("127.0.0.1", 9_091)).toContain("other");
    await expect(ask(nodeAddress, 9_091)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(await ask("10.96.240.30", 80)).toContain("web 10.64.0.1");
    const listening = await inside.listen("0.0.0.0", 443);
    onTestFinished(() => void listening.close());
    listening.on("connection", (socket) => socket.end("node"));
    expect(await client.ask(nodeAddress, 443)).toBe("node");
  });

  test("a client that an endpoint remembers stays with it when the rules change", async () => {
    const service: Service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "sticky", namespace: "shop" },
      spec: { clusterIP: "10.96.240.40", sessionAffinity: "ClientIP", ports: [{ port: 80 }] },
    };
    const [mine, theirs] = [pod("web").address, pod("other").address];
    const rules = (addresses: readonly string[]): string => {
      const endpoints = addresses.map((address) => ({ addresses: [address] }));
      const slice: EndpointSlice = {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name: "sticky", namespace: "shop", labels: { "kubernetes.io/service-name": "sticky" } },
        addressType: "IPv4",
        ports: [{ port: 8080, protocol: "TCP" }],
        endpoints,
      };
      const table = createServiceTable(
        () => [service],
        () => [slice],
      );
      const services = servicePorts(table, { nodeAddress, dnsAddress: "10.96.240.10" });
      const nothing = { policies: [], namespaces: [], pods: [] };
      const self = [{ address: mine, namespace: "shop", labels: {}, ports: new Map<string, number>() }];
      const policies = policyRules(nothing, self, { apiAddress, nodeAddress });
      return policies + serviceRules({ podCidr: world.network.podCidr, nodeAddress, services, hostPorts: [] });
    };
    const apply = (text: string, before: string): Promise<void> =>
      applyRules(world.cluster.namespace, replaceTable("node", before, text));
    const one = rules([theirs]);
    await apply(one, "");
    expect(await pod("web").ask("10.96.240.40", 80)).toContain("other");
    const both = rules([mine, theirs]);
    await apply(both, one);
    for (let i = 0; i < 6; i++) expect(await pod("web").ask("10.96.240.40", 80)).toContain("other");
    await apply(rules([mine]), both);
    expect(await pod("web").ask("10.96.240.40", 80)).toContain("web");
  });

  test("a partition cuts open connections too and ends when it is removed; a delay needs a kernel that has it", async () => {
    const [from, to] = [pod("other").address, pod("web").address];
    const partition = await world.network.inject({ kind: "partition", from, to });
    expect(await pod("other").ask(to, 8080, 500)).toMatch(/TimeoutError|ABORT_ERR|23/);
    expect(await readAll(await world.network.connect(to, 8080))).toContain("web");
    await partition[Symbol.asyncDispose]();
    expect(await pod("other").ask(to, 8080)).toContain("web");
    const loss = await world.network.inject({ kind: "loss", from, to, percent: 100 });
    expect(await pod("other").ask(to, 8080, 500)).not.toContain("web");
    await loss[Symbol.asyncDispose]();
    try {
      await using _delay = await world.network.inject({ kind: "delay", to, delayMs: 100 });
      const startMs = systemClock.monotonic();
      await pod("other").ask(to, 8080);
      expect(systemClock.monotonic() - startMs).toBeGreaterThan(95);
    } catch (error) {
      expect((error as Error).message).toBe("Cannot inject a delay: this host's kernel has no netem queue (sch_netem)");
    }
  });

  test("a holder is found again by its file, and not once it has ended", async () => {
    const options = { clock: systemClock, file: join(world.folder, "holder") };
    const first = await holdNamespace(options);
    const second = await holdNamespace(options);
    expect([second.isAdopted, second.holderPid]).toEqual([true, first.holderPid]);
    process.kill(first.holderPid, "SIGKILL");
    await expect.poll(() => readHolder(options.file)).toBeUndefined();
    const third = await holdNamespace(options);
    expect(third.isAdopted).toBe(false);
    third.remove();
  });
});
