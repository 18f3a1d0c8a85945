import { readFileSync } from "node:fs";
import { startCluster } from "@setpoint/cli";
import { expect, test } from "vitest";
import { Kubectl } from "./kubectl/kubectl.ts";

const page = readFileSync(new URL("../docs/cluster.md", import.meta.url), "utf8");

test("kubectl prints the warning that docs/cluster.md shows, and finds the Event", async () => {
  await using cluster = await startCluster({ directory: undefined, port: 0, nodes: 0, say: () => {} });
  using kubectl = new Kubectl(cluster.kubeconfig);
  const { stdout, stderr } = await kubectl.run("create ingress web --rule=web.example.com/*=web:80");
  expect(page).toContain(`${stderr.trim()}\n${stdout.trim()}\n`);
  expect(stderr).toContain("Warning: Ingress is only stored");
  const events = (): Promise<string> => kubectl.ok("get events --field-selector reason=NotHandled");
  await expect.poll(events, { timeout: 20_000 }).toMatch(/Warning +NotHandled +ingress\/web +Ingress is only stored/);
});

test("a write of a pod that the node refuses is answered with a warning", async () => {
  await using cluster = await startCluster({ directory: undefined, port: 0, nodes: 0, say: () => {} });
  using kubectl = new Kubectl(cluster.kubeconfig);
  const overrides = JSON.stringify({ spec: { hostNetwork: true } });
  const { stderr } = await kubectl.run(`run web --image=nginx --overrides=${overrides}`);
  expect(stderr).toContain("Warning: The pod will not start: spec asks for hostNetwork");
  expect(stderr).toContain("remove the field");
});
