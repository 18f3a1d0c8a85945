import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, expect, test } from "vitest";
import { ownFolder } from "../own-folder.fixture.ts";

const plane = await startControlPlane({ host: { ...systemHost(), log: silentLogger }, https: {}, controllers: true });
afterAll(() => plane[Symbol.asyncDispose]());
const folder = ownFolder("plan-command");
const kubeconfig = join(folder, "kubeconfig");
writeFileSync(kubeconfig, plane.kubeconfig(), { mode: 0o600 });

const bin = new URL("../../bin/setpoint.mjs", import.meta.url).pathname;

/** In a process of its own: an operator that another test has loaded already knows no image. */
async function planOf(file: string): Promise<{ readonly code: unknown; readonly out: string }> {
  const args = ["--conditions=@setpoint/source", bin, "plan", "etcd", "-f", file, "--kubeconfig", kubeconfig];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { code, out };
}

test("a plan at a desk is that of an operator that knows its image", async () => {
  const file = join(folder, "restore.yaml");
  writeFileSync(
    file,
    `apiVersion: data.setpoint.dev/v1
kind: Restore
metadata: { name: back }
spec:
  instance: { apiGroup: etcd.setpoint.dev, kind: EtcdCluster, name: orders }
  source: { stored: { store: vault, object: etcdcluster/default/orders/uid/uid } }
  newInstance: { name: copy, spec: { size: 1, version: 3.5.16, volumeClaimTemplate: { resources: { requests: { storage: 1Gi } } } } }
`,
  );
  const { code, out } = await planOf(file);
  expect(out).toContain(String.raw`status.message: "BackupStore \"vault\" does not exist"`);
  expect(out).not.toContain("SETPOINT_OPERATOR_IMAGE");
  expect(code).toBe(2);
});
