import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@setpoint/host/system";
import { expect, onTestFinished, test } from "vitest";
import { choosePodNetwork, lacking } from "./pod-network.ts";

const block = {
  cidr: "127.96.0.0/20",
  apiAddress: "127.96.0.1",
  dnsAddress: "127.96.0.10",
  [Symbol.asyncDispose]: async () => {},
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-network-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

async function choose(directory: string): Promise<{ readonly serviceCidr: string; readonly said: readonly string[] }> {
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  await using choice = await choosePodNetwork({ clock: systemClock, directory, isKept: true, block, say });
  return { serviceCidr: choice.serviceCidr, said };
}

test("a data directory with Services on loopback addresses keeps them, and up says so", async () => {
  const directory = folder();
  mkdirSync(join(directory, "store"));
  const { serviceCidr, said } = await choose(directory);
  expect(serviceCidr).toBe("127.96.0.0/20");
  expect(said.join()).toMatch(/^Pods share this host's network, because .* start with a new --data-dir/);
});

test("a directory keeps the network that it began with", async () => {
  const directory = folder();
  writeFileSync(join(directory, "pod-network"), "loopback");
  expect((await choose(directory)).serviceCidr).toBe("127.96.0.0/20");
});

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)(
  `a new directory separates its pods, also when it starts again${isRoot ? "" : " (skipped: needs root)"}`,
  async () => {
    const directory = folder();
    for (let i = 0; i < 2; i++) expect(await choose(directory)).toEqual({ serviceCidr: "10.96.0.0/20", said: [] });
  },
);

test("what a host lacks is named with the command that adds it", () => {
  expect(lacking(new Error("unshare: unshare failed: Operation not permitted"))).toContain("sysctl");
});
