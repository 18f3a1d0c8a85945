/**
 * `setpoint why` as docs/why.md shows it: the commands of the page are run by a shell, against `setpoint up`
 * with the etcd operator in a pod, and beside an operator on the desk.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClusterWithKubectl, startClusterWithKubectl } from "./kubectl/cluster.ts";
import { etcd } from "./kubectl/manifests.ts";
import { blocksOf, runScript, setpointProgram } from "./kubectl/page-commands.ts";

const candy = new URL("../examples/candy/candy.ts", import.meta.url).pathname;
const [makeAccount = "", askPod = "", askForwarded = ""] = blocksOf("why.md");

let cluster: ClusterWithKubectl;
const operators: ChildProcess[] = [];

beforeAll(async () => {
  cluster = await startClusterWithKubectl();
  await cluster.kubectl.ok("apply -f -", [], { input: etcd("orders", "size: 1, version: 3.5.16") });
  await cluster.kubectl.ok("wait --for=condition=Available etcdcluster/orders --timeout=60s");
});
afterAll(async () => {
  for (const each of operators) each.kill("SIGKILL");
  await cluster[Symbol.asyncDispose]();
});

const shell = (script: string): Promise<string> => runScript(cluster, script);

test("the page has the three blocks that are run here", () => {
  expect(makeAccount).toContain("kubectl create clusterrole why");
  expect(askPod).toContain("--pod");
  expect(askForwarded).toContain("kubectl port-forward");
});

test("an operator in a pod explains an object to an account that may ask", async () => {
  expect(await shell(makeAccount)).toContain("clusterrolebinding.rbac.authorization.k8s.io/why-me created");
  expect(await shell(askPod)).toMatch(/^EtcdCluster default\/orders, reconciled by the controller "etcd/);
});

test("it does so through a port that kubectl forwards, too", async () => {
  const untilListening = "until (: < /dev/tcp/127.0.0.1/18090) 2>/dev/null; do sleep 0.1; done\n";
  const script = askForwarded.replace(/&\n/, `>/dev/null &\n${untilListening}`);
  expect(await shell(script)).toMatch(/^EtcdCluster default\/orders, reconciled by/);
});

test("without a token, and with one of another account, the command says what is missing", async () => {
  const withoutToken = askPod.replace(/ --token .*/, "");
  expect(await shell(withoutToken)).toMatch(
    /^Cannot ask the operator at .*: 401 Unauthorized: .*--token "\$\(kubectl create token ACCOUNT\)"/,
  );
  const other = askPod.replace("create token me", "create token default");
  expect(await shell(other)).toMatch(
    /^Cannot ask the operator at .*: 403 Forbidden: the account may not get this path/,
  );
});

test("an operator on the desk is found at its port, and at the one that its log names for --port 0", async () => {
  const { kubectl } = cluster;
  await runOnDesk("--port", "8089");
  await kubectl.ok("apply -f -", [], {
    input:
      "{apiVersion: examples.setpoint.dev/v1, kind: Candy, metadata: {name: lolly, namespace: default}, spec: {name: l}}",
  });
  await expect.poll(() => shell("setpoint why candy lolly -n default"), { timeout: 20_000 }).toContain("Last run");
  const log = await runOnDesk("--port", "0");
  const [, port] = /"message":"Status is served","port":(\d+)/.exec(log()) ?? [];
  expect(await shell(`setpoint why candy lolly -n default --url http://127.0.0.1:${port}`)).toMatch(
    /^Candy default\/lolly, reconciled by the controller "candy"/,
  );
});

/** Starts an operator beside the cluster, and resolves with its log when it is ready. */
async function runOnDesk(...flags: readonly string[]): Promise<() => string> {
  const operator = spawn(process.execPath, [setpointProgram, "run", candy, ...flags], {
    env: cluster.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  operators.push(operator);
  let log = "";
  for (const stream of [operator.stdout, operator.stderr]) stream.on("data", (text) => (log += String(text)));
  await expect.poll(() => log, { timeout: 30_000 }).toContain('"Ready"');
  return () => log;
}
