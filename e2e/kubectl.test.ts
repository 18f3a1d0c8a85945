/**
 * Stock kubectl and helm against a control plane: waiting, deleting, rollouts, rights. The answers are those
 * of a real cluster.
 */
import { expect } from "vitest";
import { web } from "./kubectl/manifests.ts";
import { test, words } from "./kubectl/stage.ts";
import { writeTinyChart } from "./kubectl/tiny-chart.ts";

test("wait ends with a condition, a value or a deletion, and with an error when none comes", async ({
  kubectl,
  withGadget,
}) => {
  const n = await withGadget();
  await kubectl.ok(`patch gd one ${n} --subresource=status --type=merge -p`, ['{"status":{"phase":"Ready"}}']);
  expect(await kubectl.ok(`wait ${n} --for=jsonpath={.status.phase}=Ready gd/one --timeout=5s`)).toBe(
    "gadget.example.dev/one condition met\n",
  );
  expect((await kubectl.run(`wait ${n} --for=condition=Available gd/one --timeout=1s`)).stderr).toBe(
    "error: timed out waiting for the condition on gadgets/one\n",
  );
  const gone = kubectl.run(`wait ${n} --for=delete gd/one --timeout=10s`);
  await kubectl.ok(`delete gd one ${n}`);
  expect((await gone).code).toBe(0);
});

test("delete waits for finalizers, cascades as asked, and can only rehearse", async ({ kubectl, withGadget }) => {
  const n = await withGadget();
  expect(await kubectl.ok(`delete gd one ${n} --dry-run=server`)).toMatch(
    /^gadget.example.dev "one" deleted from t\d+ namespace \(server dry run\)\n$/,
  );
  await kubectl.ok(`patch gd one ${n} --type=merge -p`, ['{"metadata":{"finalizers":["example.dev/hold"]}}']);
  expect((await kubectl.run(`delete gd one ${n} --timeout=1s`)).stderr).toContain(
    "timed out waiting for the condition",
  );
  await kubectl.ok(`patch gd one ${n} --type=merge -p`, ['{"metadata":{"finalizers":null}}']);
  expect((await kubectl.run(`get gd one ${n}`)).code).toBe(1);
  const sets = async (): Promise<string> => kubectl.ok(`get rs ${n} -o name`);
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0) });
  await expect.poll(sets).not.toBe("");
  await kubectl.ok(`delete deployment web ${n} --cascade=orphan`);
  expect(await sets()).not.toBe("");
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0) });
  await expect
    .poll(() => kubectl.ok(`get rs ${n} -o jsonpath={.items[*].metadata.ownerReferences[*].name}`))
    .toBe("web");
  await kubectl.ok(`delete deployment web ${n} --cascade=foreground`);
  expect(await sets()).toBe("");
});

test("auth prints the user and what the user may do; the server refuses the rest", async ({
  kubectl,
  ownNamespace,
}) => {
  const n = await ownNamespace();
  const bot = `--as=system:serviceaccount:${n.slice(3)}:bot`;
  await kubectl.ok(`create role reader ${n} --verb=get,list --resource=configmaps`);
  await kubectl.ok(`create rolebinding rb ${n} --role=reader --serviceaccount=${n.slice(3)}:bot`);
  expect(await kubectl.run(`auth can-i list configmaps ${n} ${bot}`)).toMatchObject({ code: 0, stdout: "yes\n" });
  expect(await kubectl.run(`auth can-i delete configmaps ${n} ${bot}`)).toMatchObject({ code: 1, stdout: "no\n" });
  expect(await kubectl.ok(`auth can-i --list ${n} ${bot}`)).toMatch(/^configmaps +\[\] +\[\] +\[get list\]$/m);
  expect(await kubectl.ok("auth whoami")).toMatch(/^Groups +\[system:masters system:authenticated\]$/m);
  expect((await kubectl.run(`get secrets ${n} ${bot}`)).stderr).toBe(
    `Error from server (Forbidden): secrets is forbidden: User "${bot.slice(5)}" cannot list resource "secrets" in API group "" in the namespace "${n.slice(3)}"\n`,
  );
});

test("a rollout has a history that can be undone, paused and restarted", async ({ kubectl, ownNamespace }) => {
  const n = await ownNamespace();
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0, "first") });
  const generation = (): Promise<string> =>
    kubectl.ok(`get deployment web ${n} -o jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}`);
  await expect.poll(generation, { timeout: 10_000 }).toBe("1");
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0, "second") });
  await expect.poll(generation, { timeout: 10_000 }).toBe("2");
  expect(words(await kubectl.ok(`rollout history deployment/web ${n}`)).slice(1)).toEqual([
    ["REVISION", "CHANGE-CAUSE"],
    ["1", "<none>"],
    ["2", "<none>"],
  ]);
  expect(await kubectl.ok(`rollout history deployment/web ${n} --revision=1`)).toContain("console.log('first')");
  expect(await kubectl.ok(`rollout undo deployment/web ${n}`)).toBe("deployment.apps/web rolled back\n");
  await expect.poll(generation, { timeout: 10_000 }).toBe("3");
  expect(await kubectl.ok(`rollout restart deployment/web ${n}`)).toBe("deployment.apps/web restarted\n");
  expect(await kubectl.ok(`rollout pause deployment/web ${n}`)).toBe("deployment.apps/web paused\n");
  expect((await kubectl.run(`rollout pause deployment/web ${n}`)).stderr).toBe(
    'error: deployments.apps "web" is already paused\n',
  );
});

test("top says that no node has metrics yet, and a Service without endpoints is not available", async ({ kubectl }) => {
  expect(await kubectl.run("top nodes")).toMatchObject({ code: 1, stderr: "error: metrics not available yet\n" });
  expect(await kubectl.run("get --raw /api/v1/namespaces/default/services/kubernetes/proxy/")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no endpoints available for service "kubernetes"'),
  });
});

test("stock helm installs a chart, upgrades it, rolls it back and takes it away", async ({ kubectl, ownNamespace }) => {
  const n = await ownNamespace();
  const chart = writeTinyChart(kubectl.folder);
  const helm = async (command: string): Promise<string> => {
    const { code, stdout, stderr } = await kubectl.helm(`${command} ${n}`);
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const greeting = (): Promise<string> => kubectl.ok(`get configmap one ${n} -o jsonpath={.data.greeting}`);
  expect(await helm(`install one ${chart} --wait`)).toMatch(/STATUS: deployed\nREVISION: 1\n/);
  expect(await greeting()).toBe("hello");
  expect(await helm(`upgrade one ${chart} --set greeting=moin`)).toContain('Release "one" has been upgraded.');
  expect(await greeting()).toBe("moin");
  await helm("rollback one 1");
  expect(await greeting()).toBe("hello");
  expect(await helm("list")).toMatch(/^one\s+t\d+\s+3\s.*deployed/m);
  await helm("uninstall one --wait");
  expect(await kubectl.ok(`get deployments,secrets ${n} -o name`)).toBe("");
});
