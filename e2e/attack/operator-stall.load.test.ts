/** An author's code that never yields: the process of an operator says where, and ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { ConfigMap } from "@setpoint/api";
import { expect, test } from "vitest";
import { Target } from "./target.ts";

const fixture = new URL("looping-operator.fixture.ts", import.meta.url).pathname;

test.each(["a loop", "promises"])(
  "an operator that never yields (%s) says where, and ends after SIGTERM",
  async (way) => {
    await using target = await Target.start();
    await using bystander = target.bystander(20);
    const child = spawn(process.execPath, ["--conditions=@setpoint/source", fixture, target.kubeconfig, way], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      let output = "";
      child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
      await expect.poll(() => output, { timeout: 20_000 }).toContain('"message":"Ready"');
      await target.admin.create(ConfigMap, ConfigMap({ name: "trap", namespace: "default" }));
      await expect.poll(() => output, { timeout: 10_000 }).toContain('"message":"Event loop stalled"');
      expect(output).toMatch(/reconcile \(\S*looping-operator\.fixture\.ts:\d+\)/);
      child.kill("SIGTERM");
      const ended = once(child, "close").then(() => true);
      expect(await Promise.race([ended, delay(10_000, false)])).toBe(true);
      expect(child.exitCode).toBe(1);
      expect(bystander.failures).toEqual([]);
    } finally {
      child.kill("SIGKILL");
    }
  },
);
