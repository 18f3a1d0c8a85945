import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLoopbackNetwork } from "./loopback-network.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** One machine: an address is claimed once. */
function machine(): (address: string) => Promise<boolean> {
  const taken = new Set<string>();
  return async (address) => !taken.has(address) && taken.add(address).size > 0;
}

const network = (file: string, claim: (address: string) => Promise<boolean>) => createLoopbackNetwork({ file, claim });

test("each node of a machine has a block of its own, and each pod an address in it", async () => {
  const directory = folder();
  const claim = machine();
  const one = await network(join(directory, "one"), claim);
  const two = await network(join(directory, "two"), claim);
  expect([one.nodeAddress, one.podCidr]).toEqual(["127.64.0.1", "127.64.0.0/20"]);
  expect([two.nodeAddress, two.podCidr]).toEqual(["127.64.16.1", "127.64.16.0/20"]);
  expect([one.addressOf("a"), one.addressOf("b"), one.addressOf("a")]).toEqual([
    "127.64.0.2",
    "127.64.0.3",
    "127.64.0.2",
  ]);
});

test("a node begins with the block that it is given, and its last one comes before that", async () => {
  const file = join(folder(), "network.json");
  const begin = { file, firstBlock: 256 * 3 + 7 };
  expect((await createLoopbackNetwork({ ...begin, claim: async () => true })).nodeAddress).toBe("127.64.112.1");
  const next = await createLoopbackNetwork({ ...begin, claim: async (address) => address !== "127.64.112.1" });
  expect(next.nodeAddress).toBe("127.64.128.1");
  const last = await createLoopbackNetwork({ ...begin, claim: async () => true });
  expect(last.nodeAddress).toBe(next.nodeAddress);
});

test("block and addresses outlive the agent; those of pods that are gone are given back", async () => {
  const file = join(folder(), "network.json");
  const claim = machine();
  await claim("127.64.0.1");
  const before = await network(file, claim);
  const [a, b] = [before.addressOf("a"), before.addressOf("b")];
  const after = await network(file, async () => true);
  expect(after.podCidr).toBe(before.podCidr);
  expect(after.addressOf("b")).toBe(b);
  after.retain(new Set(["b"]));
  expect(after.addressOf("c")).not.toBe(a);
});

test("an address is reused as late as possible, and a full block says so", async () => {
  const pods = await network(join(folder(), "n"), async () => true);
  const first = pods.addressOf("first");
  pods.release("first");
  expect(pods.addressOf("second")).not.toBe(first);
  const file = join(folder(), "full");
  const addresses = Object.fromEntries(Array.from({ length: 4_093 }, (_, i) => [`pod-${i}`, i + 2]));
  writeFileSync(file, JSON.stringify({ block: 0, addresses }));
  const full = await network(file, async () => true);
  expect(() => full.addressOf("one too many")).toThrow("all 4093 of 127.64.0.0/20 are in use");
  full.release("pod-7");
  expect(full.addressOf("one too many")).toBe("127.64.0.9");
});

test("a machine whose blocks are all taken is refused", async () => {
  await expect(network(join(folder(), "n"), async () => false)).rejects.toThrow("all 256 are taken");
});
