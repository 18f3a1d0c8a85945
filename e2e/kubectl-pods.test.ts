/** Stock kubectl against a cluster with a node: pods that run, and the etcd operator. */
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClusterWithKubectl, startClusterWithKubectl } from "./kubectl/cluster.ts";
import type { Kubectl } from "./kubectl/kubectl.ts";
import { etcd, script, web } from "./kubectl/manifests.ts";

let cluster: ClusterWithKubectl;
let kubectl: Kubectl;

beforeAll(async () => {
  cluster = await startClusterWithKubectl();
  kubectl = cluster.kubectl;
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

async function apply(input: string): Promise<void> {
  await kubectl.ok("apply -f -", [], { input });
}

test("an EtcdCluster is applied, waited for, listed, described and scaled", async () => {
  await apply(etcd("orders", "size: 1, version: 3.5.16"));
  expect(await kubectl.ok("wait --for=condition=Available etcdcluster/orders --timeout=60s")).toBe(
    "etcdcluster.etcd.setpoint.dev/orders condition met\n",
  );
  await kubectl.ok("wait --for=jsonpath={.status.phase}=Running etcdcluster/orders --timeout=20s");
  expect(await kubectl.ok("get etcd")).toMatch(
    /^NAME +SIZE +READY +VERSION +PHASE +AGE\norders +1 +1 +3\.5\.16 +Running +\d+s\n$/,
  );
  expect(await kubectl.ok("get etcd -o wide")).toMatch(/^NAME +SIZE +READY +VERSION +PHASE +PLAN +WAITING +AGE\n/);
  const described = await kubectl.ok("describe etcdcluster orders");
  expect(described).toMatch(/Phase: +Running/);
  expect(described).toMatch(/Normal +StartFounders/);
  expect(await kubectl.ok("scale etcdcluster/orders --replicas=3")).toBe(
    "etcdcluster.etcd.setpoint.dev/orders scaled\n",
  );
  await kubectl.ok("wait --for=jsonpath={.status.readyMembers}=3 etcdcluster/orders --timeout=60s");
  expect((await kubectl.ok("get pods -l etcd.setpoint.dev/cluster=orders -o name")).trim().split("\n")).toHaveLength(3);
  expect(await kubectl.ok("events --for etcdcluster/orders")).toContain("AddLearner");
});

test("exec runs a command in a pod with its input, output and exit code", async () => {
  const pod = (await kubectl.ok("get pods -l etcd.setpoint.dev/cluster=orders -o name")).split("\n")[0] ?? "";
  expect(await kubectl.ok(`exec -i ${pod} -- etcdctl put greeting`, [], { input: "hello" })).toBe("OK\n");
  expect(await kubectl.ok(`exec ${pod} -- etcdctl get greeting`)).toBe("greeting\nhello\n");
  expect(await kubectl.run(`exec ${pod} -c etcd -- etcdctl nonsense`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("command terminated with exit code 1"),
  });
  expect((await kubectl.run(`exec ${pod} -c nope -- etcdctl`)).stderr).toBe(
    `Error from server (BadRequest): container nope is not valid for pod ${pod.slice(4)}\n`,
  );
});

test("a Deployment rolls out, and rollout status and describe follow it", async () => {
  await apply(web(2));
  expect(await kubectl.ok("rollout status deployment/web --timeout=30s")).toContain(
    'deployment "web" successfully rolled out\n',
  );
  await apply(web(2, "second"));
  expect(await kubectl.ok("rollout status deployment/web --timeout=30s")).toContain(
    'deployment "web" successfully rolled out\n',
  );
  const described = await kubectl.ok("describe deployment web");
  expect(described).toMatch(/Annotations: +deployment.kubernetes.io\/revision: 2/);
  expect(described).toMatch(/Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable/);
  expect(described).toMatch(/ScalingReplicaSet +\d+s +deployment-controller +Scaled up replica set web-\w+ from 0 to /);
  const pods = await kubectl.ok("get pods -l app=web -o wide");
  expect(pods).toMatch(
    /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES\nweb-\w+-\w+ +1\/1 +Running +0 +\d+s +10\.[\d.]+ +node-1 +<none> +<none>\n/,
  );
  expect(
    await kubectl.ok(
      "get endpointslices -l kubernetes.io/service-name=web -o jsonpath={.items[*].endpoints[*].conditions.ready}",
    ),
  ).toBe("true true");
  expect(await kubectl.ok("logs deployment/web")).toBe("second\n");
  await kubectl.ok("delete deployment,service web");
});

test("logs -f follows a pod to its end, and its exit code is its status", async () => {
  await apply(
    script(
      "count",
      "let i = 0; const t = setInterval(() => { console.log(++i); if (i === 3) { clearInterval(t); process.exitCode = 7; } }, 150)",
    ),
  );
  await kubectl.ok("wait --for=jsonpath={.status.phase}=Running pod/count --timeout=20s");
  expect(await kubectl.ok("logs -f count")).toBe("1\n2\n3\n");
  await kubectl.ok("wait --for=jsonpath={.status.phase}=Failed pod/count --timeout=10s");
  expect(await kubectl.ok("get pod count")).toMatch(/count +0\/1 +Error +0/);
  expect(await kubectl.ok("get pod count -o jsonpath={.status.containerStatuses[0].state.terminated.exitCode}")).toBe(
    "7",
  );
  expect(await kubectl.ok("logs count --tail=1")).toBe("3\n");
  expect(await kubectl.ok("logs count --timestamps --tail=1")).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z 3\n$/);
});

test("logs -p shows what a restarted container wrote before", async () => {
  await apply(
    script(
      "again",
      "console.log(process.uptime() < 60 ? 'run ' + Date.now() : ''); setTimeout(() => process.exit(1), 100)",
      "OnFailure",
    ),
  );
  await expect
    .poll(() => kubectl.ok("get pod again -o jsonpath={.status.containerStatuses[0].restartCount}"), {
      timeout: 15_000,
    })
    .not.toMatch(/^0?$/);
  expect(await kubectl.ok("logs again -p")).toMatch(/^run \d+\n$/);
  await kubectl.ok("delete pod again count");
  expect(await kubectl.run("logs again")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('pods "again" not found'),
  });
});

test("describe prints a pod and a node with everything that a user looks for", async () => {
  const pod = await kubectl.ok("describe pods -l etcd.setpoint.dev/cluster=orders");
  for (const part of [
    /^Controlled By: +EtcdCluster\/orders$/m,
    /Image: +quay.io\/coreos\/etcd:v3.5.16/,
    /Ready +True/,
    /Normal +Scheduled/,
    /Readiness: +http-get/,
  ])
    expect(pod).toMatch(part);
  const node = await kubectl.ok("describe node node-1");
  for (const part of [
    /Ready +True +.*KubeletReady/,
    /Capacity:\n +cpu: /,
    /default +orders-/,
    /Kubelet Version: +v1\.36/,
  ])
    expect(node).toMatch(part);
});

test("a node is cordoned, drained of a Deployment's pods, and uncordoned", async () => {
  await apply(web(1));
  await kubectl.ok("rollout status deployment/web --timeout=30s");
  expect(await kubectl.ok("cordon node-1")).toBe("node/node-1 cordoned\n");
  expect(await kubectl.ok("get node node-1")).toMatch(/Ready,SchedulingDisabled/);
  const before = await kubectl.ok("get pods -l app=web -o name");
  expect(await kubectl.ok("drain node-1 --pod-selector=app=web --ignore-daemonsets --timeout=20s")).toContain(
    "node/node-1 drained\n",
  );
  await expect.poll(() => kubectl.ok("get pods -l app=web --no-headers"), { timeout: 10_000 }).toMatch(/0\/1 +Pending/);
  expect(await kubectl.ok("uncordon node-1")).toBe("node/node-1 uncordoned\n");
  await kubectl.ok("rollout status deployment/web --timeout=30s");
  expect(await kubectl.ok("get pods -l app=web -o name")).not.toBe(before);
  await kubectl.ok("delete deployment,service web");
});

test("a Service answers on its cluster IP", async () => {
  await apply(
    web(1).replace(
      "setInterval(() => {}, 1000)",
      "require('http').createServer((_, r) => r.end('served')).listen(8000)",
    ),
  );
  await kubectl.ok("rollout status deployment/web --timeout=30s");
  // The host reaches Services at a mirror of their addresses.
  const address = (await kubectl.ok("get service web -o jsonpath={.spec.clusterIP}")).replace(/^10\./, "127.");
  await expect.poll(() => textFrom(`http://${address}/`).catch(() => ""), { timeout: 10_000 }).toBe("served");
  await kubectl.ok("delete deployment,service web");
});

function textFrom(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
      answer.on("end", () => resolve(text));
    });
    sent.on("error", reject).end();
  });
}

test("an EtcdCluster is deleted with everything that it had", async () => {
  expect(await kubectl.ok("delete etcdcluster orders --timeout=30s")).toMatch(
    /^etcdcluster.etcd.setpoint.dev "orders" deleted/,
  );
  await expect
    .poll(() => kubectl.ok("get pods,services,pvc -l etcd.setpoint.dev/cluster=orders -o name"), { timeout: 20_000 })
    .toBe("");
});
