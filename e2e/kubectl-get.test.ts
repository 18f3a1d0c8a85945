/** Stock kubectl reads from a control plane: what it prints is what it prints of a real cluster. */
import { expect } from "vitest";
import { web } from "./kubectl/manifests.ts";
import { test, words } from "./kubectl/stage.ts";

test("get prints the columns of a kind, more with -o wide, and names, labels or nothing as asked", async ({
  kubectl,
  withGadget,
}) => {
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

test("get prints whole objects as JSON and YAML", async ({ kubectl, withGadget }) => {
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

test("get selects by label and by field, sorts, and looks into all namespaces", async ({ kubectl, withGadget }) => {
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

test("get all shows workloads, Services and custom kinds of the category", async ({ kubectl, withGadget }) => {
  const n = await withGadget();
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0) });
  const all = await kubectl.ok(`get all ${n}`);
  for (const name of ["service/web", "deployment.apps/web", "gadget.example.dev/one"]) expect(all).toContain(name);
});

test("get tells what is not there and what no server knows", async ({ kubectl, ownNamespace }) => {
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

test("get -w shows a change as it happens, under one header", async ({ kubectl, withGadget }) => {
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

test("api-resources, api-versions, version and cluster-info describe the server", async ({ kubectl }) => {
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

test("explain prints fields of custom and built-in kinds, with what their author wrote", async ({ kubectl }) => {
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

test("describe prints custom kinds, Services, roles and CRDs", async ({ kubectl, withGadget }) => {
  const n = await withGadget();
  await kubectl.ok(`apply ${n} -f -`, [], { input: web(0) });
  expect(await kubectl.ok(`describe gd one ${n}`)).toMatch(
    /^Name: +one\n[^]*\nSpec:\n  Count: +2\n  Mode: +fast\nEvents: +<none>\n$/,
  );
  expect(await kubectl.ok(`describe service web ${n}`)).toMatch(/^Selector: +app=web\nType: +ClusterIP$/m);
  expect(await kubectl.ok("describe crd gadgets.example.dev")).toMatch(/^Name: +gadgets.example.dev$/m);
  expect(await kubectl.ok("describe clusterrole view")).toMatch(/configmaps +\[\] +\[\] +\[get list watch\]/);
});
