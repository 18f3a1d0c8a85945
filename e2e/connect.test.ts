/**
 * `setpoint connect` as docs/connect.md shows it: a shell runs the commands of the page, with etcd's own
 * client, against members with TLS in pods of `setpoint up`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { imageCacheFolder } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, debianCatalogue, ImageStore } from "@setpoint/process-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClusterWithKubectl, startClusterWithKubectl } from "./kubectl/cluster.ts";
import { etcd, web } from "./kubectl/manifests.ts";
import { blocksOf, runScript, setpointProgram } from "./kubectl/page-commands.ts";

const [connectCommand = "", etcdCommands = ""] = blocksOf("connect.md");
const image = "quay.io/coreos/etcd:v3.5.16";

let cluster: ClusterWithKubectl;
let etcdctl = "";
const connections: ChildProcess[] = [];

beforeAll(async () => {
  cluster = await startClusterWithKubectl();
  await cluster.kubectl.ok("apply -f -", [], { input: etcd("orders", "size: 3, version: 3.5.16") });
  await cluster.kubectl.ok("apply -f -", [], { input: web(1) });
  const catalog = createImageCatalog(debianCatalogue, {});
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  etcdctl = join((await store.ensure(image)).rootDirectory, "usr/bin/etcdctl");
});
afterAll(async () => {
  for (const each of connections) each.kill("SIGKILL");
  await cluster[Symbol.asyncDispose]();
});

interface Connected {
  /** Everything that the command has printed. */
  text(): string;
  /** Ends it as ^C does, and resolves with its exit code. */
  end(): Promise<number | null>;
}

/** Starts the command, and resolves when it listens. */
async function connect(...args: readonly string[]): Promise<Connected> {
  const child = spawn(process.execPath, [setpointProgram, ...args], {
    env: cluster.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  connections.push(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  let isOver = false;
  void ended.then(() => (isOver = true));
  await expect.poll(() => isOver || text.includes("^C ends it."), { timeout: 90_000 }).toBe(true);
  return {
    text: () => text,
    end() {
      child.kill("SIGINT");
      return ended;
    },
  };
}

test("etcd is reached from the host as the page says, with the certificate checked", async () => {
  await cluster.kubectl.ok("wait --for=jsonpath={.status.readyMembers}=3 etcdcluster/orders --timeout=90s");
  const [, ...args] = connectCommand.trim().split(" ");
  const connected = await connect(...args);
  expect(connected.text()).toMatch(
    /^Service default\/orders-client, port 2379 \(client\), now pod orders-\w+:\n {2}https:\/\/localhost:2379\n/,
  );
  expect(await runScript(cluster, etcdCommands, { etcdctl })).toBe("OK\ngreeting\nhello\n");
  const [, pod = ""] = /now pod (\S+):/.exec(connected.text()) ?? [];
  await cluster.kubectl.ok(`delete pod ${pod} --wait=false`);
  await expect
    .poll(() => runScript(cluster, etcdCommands, { etcdctl }), { timeout: 60_000 })
    .toBe("OK\ngreeting\nhello\n");
  expect(connected.text()).toContain(`Pod ${pod} does not serve any more: new connections go to pod orders-`);
  expect(await connected.end()).toBe(0);
});

test("a Service whose pods do not listen, or that does not exist, is explained", async () => {
  // The pod serves nothing.
  await cluster.kubectl.ok("rollout status deployment/web --timeout=60s");
  const connected = await connect("connect", "web", "--port", "0");
  expect(connected.text()).toMatch(/Cannot connect to port \d+ of Pod "web-\S+": cannot reach port/);
  expect(await connected.end()).toBe(0);
  expect((await connect("connect", "nobody")).text()).toContain('namespace "default" has none of this name');
  expect((await connect("connect", "kubernetes")).text()).toContain("what stands behind it are addresses and no pods");
});
