/** Stock kubectl against a control plane: everything that needs no running pod. The answers are those of a real cluster. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startControlPlane, type ControlPlane } from "@setpoint/controlplane";
import { systemHost } from "@setpoint/host/system";
import { Kubectl } from "./kubectl/kubectl.ts";
import { gadget, gadgetCrd, web } from "./kubectl/manifests.ts";
import { writeTinyChart } from "./kubectl/tiny-chart.ts";

let controlPlane: ControlPlane;
let kubectl: Kubectl;
let namespaces = 0;

beforeAll(async () => {
  controlPlane = await startControlPlane({ host: systemHost({ write: () => {} }), https: { port: 0 } });
  kubectl = new Kubectl(controlPlane.kubeconfig());
  await kubectl.ok("apply -f -", [], { input: gadgetCrd });
  await kubectl.ok("wait --for=condition=Established crd/gadgets.example.dev --timeout=10s");
});
afterAll(async () => {
  kubectl?.[Symbol.dispose]();
  await controlPlane?.[Symbol.asyncDispose]();
});

/** A namespace of its own for a test, as the flag. */
async function ownNamespace(): Promise<string> {
  const name = `t${++namespaces}`;
  await kubectl.ok(`create namespace ${name}`);
  return `-n ${name}`;
}

/** A namespace with a gadget. */
async function withGadget(): Promise<string> {
  const n = await ownNamespace();
  await kubectl.ok(`apply ${n} -f -`, [], { input: gadget(2) });
  return n;
}

const words = (text: string): readonly (readonly string[])[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.trim().split(/\s{2,}/));

test("get prints the columns of a kind, more with -o wide, and names, labels or nothing as asked", async () => {
  const n = await withGadget();
  expect(words(await kubectl.ok(`get gadgets ${n}`))).toEqual([
    ["NAME", "COUNT"],
    ["one", "2"],
  ]);
  expect(words(await kubectl.ok(`get gd one ${n} -o wide`))).toEqual([
    ["NAME", "COUNT", "MODE"],
    ["one", "2", "fast"],
  ]);
  expect(await kubectl.ok(`get gd ${n} -o name`)).toBe("gadget.example.dev/one\n");
  expect(await kubectl.ok(`get gd ${n} --no-headers --show-labels`)).toMatch(/^one +2 +tier=front\n$/);
  expect(await kubectl.ok(`get gd ${n} -L tier`)).toMatch(/NAME +COUNT +TIER\none +2 +front\n/);
  expect(await kubectl.ok(`get gd ${n} -o jsonpath={.items[*].spec.mode}`)).toBe("fast");
  expect(await kubectl.ok(`get gd ${n} -o custom-columns=A:.metadata.name,B:.spec.count`)).toMatch(/A +B\none +2\n/);
});

test("get prints whole objects as JSON and YAML", async () => {
  const n = await withGadget();
  expect(JSON.parse(await kubectl.ok(`get gd one ${n} -o json`))).toMatchObject({
    apiVersion: "example.dev/v1",
    kind: "Gadget",
    metadata: { generation: 1 },
    spec: { count: 2, mode: "fast" },
  });
  expect(await kubectl.ok(`get gd one ${n} -o yaml`)).toMatch(
    /^apiVersion: example.dev\/v1\nkind: Gadget\n[^]*\nspec:\n  count: 2\n  mode: fast\n$/,
  );
  expect(JSON.parse(await kubectl.ok(`get gd,cm ${n} -o json`))).toMatchObject({
    kind: "List",
    items: [{ kind: "Gadget" }, { kind: "ConfigMap" }],
  });
});

test("get selects by label and by field, sorts, and looks into all namespaces", async () => {
  const n = await withGadget();
  for (const name of ["b", "a"]) await kubectl.ok(`create configmap ${name} ${n} --from-literal=x=${name}`);
  await kubectl.ok(`label configmap a ${n} tier=back`);
  const names = async (command: string): Promise<string> =>
    (await kubectl.ok(`get ${n} -o name ${command}`)).replaceAll("\n", " ").trim();
  expect(await names("cm -l tier=back")).toBe("configmap/a");
  expect(await names("cm -l tier!=back --sort-by=.metadata.name")).toBe("configmap/b configmap/kube-root-ca.crt");
  expect(await names("cm --field-selector metadata.name=b")).toBe("configmap/b");
  expect(await names("cm --sort-by=.metadata.creationTimestamp")).toMatch(/configmap\/kube-root-ca.crt/);
  expect((await kubectl.run(`get gd ${n} --field-selector spec.count=2`)).stderr).toBe(
    'Error from server (BadRequest): Unable to find "example.dev/v1, Resource=gadgets" that match label selector "", field selector "spec.count=2": field label not supported: spec.count\n',
  );
  expect(await kubectl.ok("get gd -A --no-headers")).toMatch(new RegExp(`^t\\d+ +one`, "m"));
});

test("get all shows workloads, Services and custom kinds of the category", async () => {
  const n = await withGadget();
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0) });
  const all = await kubectl.ok(`get all ${n}`);
  for (const name of ["service/web", "deployment.apps/web", "gadget.example.dev/one"]) expect(all).toContain(name);
});

test("get tells what is not there and what no server knows", async () => {
  const n = await ownNamespace();
  expect(await kubectl.run(`get gd nope ${n}`)).toEqual({
    code: 1,
    stdout: "",
    stderr: 'Error from server (NotFound): gadgets.example.dev "nope" not found\n',
  });
  expect(await kubectl.run(`get gd nope ${n} --ignore-not-found`)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await kubectl.run("get frobs")).toEqual({
    code: 1,
    stdout: "",
    stderr: 'error: the server doesn\'t have a resource type "frobs"\n',
  });
  expect((await kubectl.run(`get gd ${n}`)).stderr).toMatch(/^No resources found in t\d+ namespace.\n$/);
});

test("get -w shows a change as it happens, under one header", async () => {
  const n = await withGadget();
  const watch = kubectl.run(`get gd ${n} -w --request-timeout=10s`);
  const lines = new Promise<string>((resolve) => {
    let text = "";
    watch.child.stdout?.on("data", (chunk: string) => {
      text += chunk;
      if (text.split("\n").length > 3) resolve(text);
      else if (text.includes("one")) void kubectl.run(`scale gd/one ${n} --replicas=4`);
    });
  });
  expect(words(await lines).slice(0, 3)).toEqual([
    ["NAME", "COUNT"],
    ["one", "2"],
    ["one", "4"],
  ]);
  watch.child.kill();
  await watch;
});

test("apply creates, leaves alone, changes, and says which", async () => {
  const n = await ownNamespace();
  const apply = (input: string): Promise<string> => kubectl.ok(`apply ${n} -f -`, [], { input });
  expect(await apply(gadget(2))).toBe("gadget.example.dev/one created\n");
  expect(await apply(gadget(2))).toBe("gadget.example.dev/one unchanged\n");
  expect(await apply(gadget(3))).toBe("gadget.example.dev/one configured\n");
  expect(await apply(web(0))).toBe("deployment.apps/web created\nservice/web created\n");
  expect(await apply(web(0))).toBe("deployment.apps/web unchanged\nservice/web unchanged\n");
});

test("apply --server-side names the manager that owns a field, and takes it over by force", async () => {
  const n = await ownNamespace();
  const apply = (count: number, flags = ""): Promise<{ code: number; stdout: string; stderr: string }> =>
    kubectl.run(`apply --server-side ${n} ${flags} -f -`, [], { input: gadget(count) });
  expect((await apply(2)).stdout).toBe("gadget.example.dev/one serverside-applied\n");
  const refused = await apply(5, "--field-manager=other");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /^error: Apply failed with 1 conflict: conflict with "kubectl": \.spec\.count\nPlease review the fields above/,
  );
  expect((await apply(5, "--field-manager=other --force-conflicts")).code).toBe(0);
  expect(await kubectl.ok(`get gd one ${n} -o jsonpath={.spec.count}`)).toBe("5");
});

test("apply refuses unknown fields and wrong values with their paths", async () => {
  const n = await ownNamespace();
  const refusal = async (input: string): Promise<string> =>
    (await kubectl.run(`apply ${n} -f -`, [], { input })).stderr;
  expect(await refusal(gadget(2, ", colour: red"))).toMatch(
    /Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: unknown field "spec.colour"\n$/,
  );
  expect(await refusal(gadget(9))).toBe(
    'The Gadget "one" is invalid: spec.count: Invalid value: 9: spec.count in body should be less than or equal to 5\n',
  );
  expect(await refusal(gadget(2, ", mode: odd"))).toBe(
    'The Gadget "one" is invalid: spec.mode: Unsupported value: "odd": supported values: "fast", "slow"\n',
  );
  expect(await refusal(gadget('"three"'))).toContain('spec.count in body must be of type integer: "string"');
  expect(await refusal(gadget(2).replace("Gadget", "Frob"))).toMatch(
    /no matches for kind "Frob" in version "example.dev\/v1"\nensure CRDs are installed first\n$/,
  );
  expect(await kubectl.ok(`get gd ${n}`)).toBe("");
});

test("diff shows what apply would change, and changes nothing", async () => {
  const n = await withGadget();
  const { code, stdout } = await kubectl.run(`diff ${n} -f -`, [], { input: gadget(3) });
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^-  count: 2\n\+  count: 3$/m)]);
  expect((await kubectl.run(`diff ${n} -f -`, [], { input: gadget(2) })).code).toBe(0);
});

test("create makes objects of every common kind, and not twice", async () => {
  const n = await ownNamespace();
  const made = async (command: string): Promise<string> => (await kubectl.ok(`create ${command} ${n}`)).trim();
  expect(await made("deployment web --image=nginx:1 --replicas=0")).toBe("deployment.apps/web created");
  expect(await made("configmap c --from-literal=a=1")).toBe("configmap/c created");
  expect(await made("secret generic s --from-literal=p=x")).toBe("secret/s created");
  expect(await made("serviceaccount bot")).toBe("serviceaccount/bot created");
  expect(await made("role reader --verb=get,list --resource=pods")).toBe(
    "role.rbac.authorization.k8s.io/reader created",
  );
  expect(await made("rolebinding rb --role=reader --serviceaccount=x:bot")).toBe(
    "rolebinding.rbac.authorization.k8s.io/rb created",
  );
  expect(await made("quota q --hard=pods=5")).toBe("resourcequota/q created");
  expect(await made("ingress i --rule=a.b/=web:80")).toBe("ingress.networking.k8s.io/i created");
  expect(await made("job j --image=busybox --dry-run=server")).toBe("job.batch/j created (server dry run)");
  expect((await made("token bot --duration=10m")).split(".")).toHaveLength(3);
  expect((await kubectl.run(`create configmap c ${n}`)).stderr).toBe(
    'error: failed to create configmap: configmaps "c" already exists\n',
  );
});

test("edit opens the object in the user's editor and sends what was saved", async () => {
  const n = await withGadget();
  const editor = kubectl.file("edit.sh", "#!/bin/sh\nsed -i 's/count: 2/count: 3/' \"$1\"\n", 0o755);
  expect(await kubectl.ok(`edit gd one ${n}`, [], { env: { EDITOR: editor } })).toBe("gadget.example.dev/one edited\n");
  expect(await kubectl.ok(`get gd one ${n} -o jsonpath={.spec.count}`)).toBe("3");
  expect((await kubectl.run(`edit gd one ${n}`, [], { env: { EDITOR: "true" } })).stderr).toBe(
    "Edit cancelled, no changes made.\n",
  );
});

test("patch works in all its forms, on the status too", async () => {
  const n = await withGadget();
  const patch = (flags: string, body: unknown): Promise<{ code: number; stdout: string; stderr: string }> =>
    kubectl.run(`patch gd one ${n} ${flags} -p`, [JSON.stringify(body)]);
  expect((await patch("--type=merge", { spec: { count: 3 } })).stdout).toBe("gadget.example.dev/one patched\n");
  expect((await patch("--type=merge", { spec: { count: 3 } })).stdout).toBe(
    "gadget.example.dev/one patched (no change)\n",
  );
  expect((await patch("--type=json", [{ op: "replace", path: "/spec/count", value: 4 }])).code).toBe(0);
  expect((await patch("--type=json", [{ op: "test", path: "/spec/count", value: 9 }])).stderr).toBe(
    "The request is invalid: the server rejected our request due to an error in our request\n",
  );
  expect((await patch("--type=merge --subresource=status", { status: { phase: "Ready" } })).code).toBe(0);
  expect((await patch("", { spec: { count: 1 } })).stderr).toMatch(
    /^error: application\/strategic-merge-patch\+json is not supported by example.dev\/v1, Kind=Gadget/,
  );
  expect((await patch("--type=merge", { metadata: { name: "two" } })).stderr).toBe(
    "Error from server (BadRequest): the name of the object (two) does not match the name on the URL (one)\n",
  );
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0) });
  await kubectl.ok(`patch deployment web ${n} -p`, [
    '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"other:1"}]}}}}',
  ]);
  expect(await kubectl.ok(`get deployment web ${n} -o jsonpath={.spec.template.spec.containers[0].command[0]}`)).toBe(
    "node",
  );
});

test("label and annotate add, refuse to overwrite, overwrite and remove", async () => {
  const n = await withGadget();
  expect(await kubectl.ok(`label gd one ${n} a=b`)).toBe("gadget.example.dev/one labeled\n");
  expect((await kubectl.run(`label gd one ${n} a=c`)).stderr).toBe(
    "error: 'a' already has a value (b), and --overwrite is false\n",
  );
  expect((await kubectl.run(`label gd one ${n} a=c --overwrite`)).code).toBe(0);
  expect(await kubectl.ok(`label gd one ${n} a-`)).toBe("gadget.example.dev/one unlabeled\n");
  expect(await kubectl.ok(`annotate gd one ${n} note=hello`)).toBe("gadget.example.dev/one annotated\n");
});

test("scale changes the count of a custom kind and of a Deployment, and minds the rules", async () => {
  const n = await withGadget();
  expect(await kubectl.ok(`scale gd/one ${n} --replicas=3`)).toBe("gadget.example.dev/one scaled\n");
  expect(await kubectl.run(`scale gd/one ${n} --replicas=9`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("should be less than or equal to 5"),
  });
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0) });
  expect((await kubectl.run(`scale deployment/web ${n} --current-replicas=7 --replicas=1`)).stderr).toBe(
    "error: Expected replicas to be 7, was 0\n",
  );
});

test("wait ends with a condition, a value or a deletion, and with an error when none comes", async () => {
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

test("delete waits for finalizers, cascades as asked, and can only rehearse", async () => {
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

test("replace puts a new object in the place of the old one", async () => {
  const n = await withGadget();
  expect(await kubectl.ok(`replace ${n} -f -`, [], { input: gadget(4) })).toBe("gadget.example.dev/one replaced\n");
  expect(await kubectl.ok(`replace --force ${n} -f -`, [], { input: gadget(1) })).toMatch(
    /"one" deleted[^]*gadget.example.dev\/one replaced\n$/,
  );
});

test("api-resources, api-versions, version and cluster-info describe the server", async () => {
  expect(words(await kubectl.ok("api-resources --api-group=example.dev"))).toEqual([
    ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"],
    ["gadgets", "gd", "example.dev/v1", "true", "Gadget"],
  ]);
  expect((await kubectl.ok("api-versions")).split("\n")).toEqual(
    expect.arrayContaining(["v1", "apps/v1", "example.dev/v1"]),
  );
  expect(await kubectl.ok("version")).toMatch(/Server Version: v1\.36\.\d+/);
  expect(await kubectl.ok("cluster-info")).toContain("is running at");
});

test("explain prints fields of custom and built-in kinds, with what their author wrote", async () => {
  expect(await kubectl.ok("explain gd.spec")).toMatch(
    /GROUP: +example.dev\nKIND: +Gadget\nVERSION: +v1\n\nFIELD: spec <Object>\n\n\nDESCRIPTION:\n +What is wanted.[^]*count\t<integer> -required-\n +How many./,
  );
  expect(await kubectl.ok("explain gd --recursive")).toMatch(
    /spec\t<Object>\n +count\t<integer> -required-\n +mode\t<string>/,
  );
  expect(await kubectl.ok("explain deployment.spec.strategy.rollingUpdate")).toContain("maxSurge\t<IntOrString>");
  expect(await kubectl.run("explain gd.nope")).toMatchObject({
    code: 1,
    stderr: 'error: field "nope" does not exist\n',
  });
});

test("auth says what somebody may do, and who one is; what one may not do is refused", async () => {
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

test("describe prints custom kinds, Services, roles and CRDs", async () => {
  const n = await withGadget();
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0) });
  expect(await kubectl.ok(`describe gd one ${n}`)).toMatch(
    /^Name: +one\n[^]*\nSpec:\n  Count: +2\n  Mode: +fast\nEvents: +<none>\n$/,
  );
  expect(await kubectl.ok(`describe service web ${n}`)).toMatch(/^Selector: +app=web\nType: +ClusterIP$/m);
  expect(await kubectl.ok("describe crd gadgets.example.dev")).toMatch(/^Name: +gadgets.example.dev$/m);
  expect(await kubectl.ok("describe clusterrole view")).toMatch(/configmaps +\[\] +\[\] +\[get list watch\]/);
});

test("a rollout has a history that can be undone, paused and restarted", async () => {
  const n = await ownNamespace();
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0, "first") });
  const generation = (): Promise<string> =>
    kubectl.ok(`get deployment web ${n} -o jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}`);
  await expect.poll(generation).toBe("1");
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0, "second") });
  await expect.poll(generation).toBe("2");
  expect(words(await kubectl.ok(`rollout history deployment/web ${n}`)).slice(1)).toEqual([
    ["REVISION", "CHANGE-CAUSE"],
    ["1", "<none>"],
    ["2", "<none>"],
  ]);
  expect(await kubectl.ok(`rollout history deployment/web ${n} --revision=1`)).toContain("console.log('first')");
  expect(await kubectl.ok(`rollout undo deployment/web ${n}`)).toBe("deployment.apps/web rolled back\n");
  await expect.poll(generation).toBe("3");
  expect(await kubectl.ok(`rollout restart deployment/web ${n}`)).toBe("deployment.apps/web restarted\n");
  expect(await kubectl.ok(`rollout pause deployment/web ${n}`)).toBe("deployment.apps/web paused\n");
  expect((await kubectl.run(`rollout pause deployment/web ${n}`)).stderr).toBe(
    'error: deployments.apps "web" is already paused\n',
  );
});

test("top says that no metrics are served, connecting to a Service that nobody proxies is not found", async () => {
  expect(await kubectl.run("top nodes")).toMatchObject({ code: 1, stderr: "error: Metrics API not available\n" });
  expect(await kubectl.run("get --raw /api/v1/namespaces/default/services/kubernetes/proxy/")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("NotFound"),
  });
});

test("stock helm installs a chart, upgrades it, rolls it back and takes it away", async () => {
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
