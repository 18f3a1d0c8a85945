/** Images that people name without a registry run as pods, each of a Debian package. */
import { expect, test } from "vitest";
import { missingForPods, TestCluster, until } from "./node/test-cluster.ts";

const missing = missingForPods();
if (missing !== "") console.warn(`skipped: common images in pods: ${missing}`);

function pod(name: string, more: object = {}): string {
  const containers = [{ name: "main", image: name, ...more }];
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers } });
}

/** A command in the container, and what shows that its server listens or its program works. */
const asks: Readonly<Record<string, readonly [readonly string[], RegExp]>> = {
  httpd: [["sh", "-c", "cat /proc/net/tcp6 /proc/net/tcp"], /:0050 .* 0A /],
  memcached: [["sh", "-c", "cat /proc/net/tcp6 /proc/net/tcp"], /:2BCB .* 0A /],
  python: [["python", "-c", "import json, ssl; print(json.dumps([1]))"], /\[1\]/],
};

test.skipIf(missing !== "")("httpd, memcached and python run by the names that people type", async () => {
  await using cluster = await TestCluster.start(1);
  await cluster.apply([pod("httpd"), pod("memcached"), pod("python", { command: ["sleep", "600"] })].join("\n---\n"));
  for (const [name, [command, expected]] of Object.entries(asks)) {
    const output = await until(name, 120, async () => {
      const { stdout } = await cluster.exec(name, command).catch(() => ({ stdout: "" }));
      return expected.test(stdout) ? stdout : undefined;
    });
    expect(output).toMatch(expected);
  }
});
