/** `kubectl drain` of one of three nodes, whose pods a PodDisruptionBudget protects. */
import { startCluster } from "@setpoint/cli";
import { expect, test } from "vitest";
import { Kubectl } from "./kubectl/kubectl.ts";

/** Each pod takes a while to become ready, so a second eviction comes too soon for the budget. */
const workloads = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: web
        image: busybox
        command: [sleep, infinity]
        readinessProbe: {exec: {command: ["true"]}, initialDelaySeconds: 2, periodSeconds: 1}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 3, selector: {matchLabels: {app: web}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: agent, image: busybox, command: [sleep, infinity]}]
`;

const nodesOf = async (kubectl: Kubectl, app: string): Promise<readonly string[]> =>
  (await kubectl.ok(`get pods -l app=${app} -o jsonpath={.items[*].spec.nodeName}`)).split(" ");

test("kubectl drain waits for the budget, and the pods move to the other nodes", async () => {
  await using cluster = await startCluster({ directory: undefined, port: 0, nodes: 3, say: () => {} });
  using kubectl = new Kubectl(cluster.kubeconfig);
  await kubectl.ok("apply -f -", [], { input: workloads });
  await kubectl.ok("rollout status deployment/web --timeout=25s");
  await kubectl.ok("rollout status daemonset/agent --timeout=25s");
  await kubectl.ok("wait --for=jsonpath={.status.disruptionsAllowed}=1 pdb/web --timeout=20s");
  const [drained = ""] = (await nodesOf(kubectl, "web")).toSorted().filter((node, at, all) => node === all[at - 1]);

  const { code, stdout, stderr } = await kubectl.run(`drain ${drained} --ignore-daemonsets --timeout=60s`, [], {
    timeoutMs: 70_000,
  });

  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain(`node/${drained} drained\n`);
  expect(stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget");
  await kubectl.ok("rollout status deployment/web --timeout=25s");
  expect(await nodesOf(kubectl, "web")).not.toContain(drained);
  expect(await nodesOf(kubectl, "agent")).toContain(drained);
  await kubectl.ok(`uncordon ${drained}`);
});
