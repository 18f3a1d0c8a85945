/**
 * A chart with every kind of workload and hook Jobs, by the genuine helm on `setpoint up`: installed, tested,
 * upgraded, rolled back and uninstalled.
 */
import { startCluster } from "@setpoint/cli";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Kubectl } from "./kubectl/kubectl.ts";

const chart = new URL("workload-chart/chart", import.meta.url).pathname;
/** The schedule has one run a minute. */
const scheduledSeconds = 100;

const parts = new AsyncDisposableStack();
let kubectl: Kubectl;

beforeAll(async () => {
  const cluster = parts.use(await startCluster({ directory: undefined, port: 0, nodes: 1, say: () => {} }));
  kubectl = parts.use(new Kubectl(cluster.kubeconfig));
});
afterAll(() => parts.disposeAsync());

async function helm(command: string): Promise<string> {
  const { code, stdout, stderr } = await kubectl.helm(command, 120_000);
  if (code !== 0) throw new Error(`helm ${command}: ${stderr}${stdout}\n${await kubectl.ok("get all,events")}`);
  return stdout;
}

const path = (object: string, expression: string): Promise<string> =>
  kubectl.ok(`get ${object} -o jsonpath={${expression}}`);
const historyOf = (pod: string): Promise<string> => kubectl.ok(`exec ${pod} -- cat /data/history`);

test("helm install --wait runs the hook Job first, and returns when all workloads are ready", async () => {
  await helm(`install shop ${chart} --wait --timeout 90s`);
  expect(await path("job/shop-prepare", ".status.succeeded")).toBe("1");
  const prepared = await path("job/shop-prepare", ".status.completionTime");
  const created = await path("statefulset/shop", ".metadata.creationTimestamp");
  expect(Date.parse(created)).toBeGreaterThanOrEqual(Date.parse(prepared));
  expect(await path("statefulset/shop", ".status.readyReplicas")).toBe("2");
  expect(await path("daemonset/shop-agent", ".status.numberReady")).toBe("1");
  expect(await path("pvc", ".items[*].status.phase")).toBe("Bound Bound");
  expect(await kubectl.ok("logs job/shop-prepare")).toBe("prepared\n");
});

test("the chart's autoscaler, budget and schedule act", async () => {
  await kubectl.ok("wait --for=jsonpath={.status.readyReplicas}=2 deployment/shop-web --timeout=25s");
  await kubectl.ok("wait --for=condition=ScalingActive hpa/shop-web --timeout=25s");
  expect(await path("pdb/shop", ".status.disruptionsAllowed")).toBe("1");
});

test("helm test runs the chart's test pod", async () => {
  expect(await helm("test shop --timeout 60s")).toMatch(/Phase: +Succeeded/);
});

test("helm upgrade --wait rolls all pods, keeps the claims, and runs the Job after it", async () => {
  await helm(`upgrade shop ${chart} --wait --timeout 90s --set version=v2,replicas=3`);
  expect(await path("job/shop-migrate", ".status.succeeded")).toBe("1");
  expect(await historyOf("shop-0")).toBe("v1\nv2\n");
  expect(await historyOf("shop-2")).toBe("v2\n");
  expect(await path("daemonset/shop-agent", ".status.updatedNumberScheduled")).toBe("1");
});

test("an upgrade whose Job ends with an error reports it", async () => {
  const { code, stderr } = await kubectl.helm(
    `upgrade shop ${chart} --wait --timeout 60s --set version=v3,failMigration=true`,
    120_000,
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(/post-upgrade hooks failed/);
});

test("helm rollback --wait brings the first revision back on the same claims", async () => {
  await helm("rollback shop 1 --wait --timeout 90s");
  expect(await path("statefulset/shop", ".status.readyReplicas")).toBe("2");
  expect(await historyOf("shop-0")).toBe("v1\nv2\nv3\nv1\n");
  expect(await helm("status shop")).toMatch(/STATUS: deployed/);
});

test("the schedule of the chart runs its Job", async () => {
  await kubectl.ok(
    `wait --for=jsonpath={.status.lastSuccessfulTime} cronjob/shop-report --timeout=${scheduledSeconds}s`,
    [],
    { timeoutMs: (scheduledSeconds + 10) * 1_000 },
  );
  const job = (await path("jobs", ".items[?(@.metadata.ownerReferences)].metadata.name")).split(" ")[0];
  // A pod that began while the pods of the Service were replaced may have failed before.
  const selection = `-l batch.kubernetes.io/job-name=${job} --field-selector status.phase=Succeeded`;
  const [pod] = (await kubectl.ok(`get pods ${selection} -o name`)).split("\n");
  expect(await kubectl.ok(`logs ${pod}`)).toMatch(/^v\d\n$/);
});

test("helm uninstall --wait leaves the claims and what hooks made, and nothing else", async () => {
  await helm("uninstall shop --wait --timeout 60s");
  await kubectl.ok("wait --for=delete pod -l part!=hook --timeout=25s");
  expect(await kubectl.ok("get sts,ds,deploy,cj,hpa,pdb -o name")).toBe("");
  expect(await kubectl.ok("get pvc -o name")).toMatch(/data-shop-0\n.*data-shop-1\n.*data-shop-2\n/);
});
