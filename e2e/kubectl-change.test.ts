/**
 * Stock kubectl changes objects of a control plane: what it says and what is refused are those of a real
 * cluster.
 */
import { expect } from "vitest";
import { gadget, web } from "./kubectl/manifests.ts";
import { test } from "./kubectl/stage.ts";

test("apply creates, leaves alone, changes, and says which", async ({ kubectl, ownNamespace }) => {
  const n = await ownNamespace();
  const apply = (input: string): Promise<string> => kubectl.ok(`apply ${n} -f -`, [], { input });
  expect(await apply(gadget(2))).toBe("gadget.example.dev/one created\n");
  expect(await apply(gadget(2))).toBe("gadget.example.dev/one unchanged\n");
  expect(await apply(gadget(3))).toBe("gadget.example.dev/one configured\n");
  expect(await apply(web(0))).toBe("deployment.apps/web created\nservice/web created\n");
  expect(await apply(web(0))).toBe("deployment.apps/web unchanged\nservice/web unchanged\n");
});

test("apply --server-side names the manager that owns a field, and takes it over by force", async ({
  kubectl,
  ownNamespace,
}) => {
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

test("apply refuses unknown fields and wrong values with their paths", async ({ kubectl, ownNamespace }) => {
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

test("diff shows what apply would change, and changes nothing", async ({ kubectl, withGadget }) => {
  const n = await withGadget();
  const { code, stdout } = await kubectl.run(`diff ${n} -f -`, [], { input: gadget(3) });
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^-  count: 2\n\+  count: 3$/m)]);
  expect((await kubectl.run(`diff ${n} -f -`, [], { input: gadget(2) })).code).toBe(0);
});

test("create makes objects of every common kind, and not twice", async ({ kubectl, ownNamespace }) => {
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

test("edit opens the object in the user's editor and sends what was saved", async ({ kubectl, withGadget }) => {
  const n = await withGadget();
  const editor = kubectl.file("edit.sh", "#!/bin/sh\nsed -i 's/count: 2/count: 3/' \"$1\"\n", 0o755);
  expect(await kubectl.ok(`edit gd one ${n}`, [], { env: { EDITOR: editor } })).toBe("gadget.example.dev/one edited\n");
  expect(await kubectl.ok(`get gd one ${n} -o jsonpath={.spec.count}`)).toBe("3");
  expect((await kubectl.run(`edit gd one ${n}`, [], { env: { EDITOR: "true" } })).stderr).toBe(
    "Edit cancelled, no changes made.\n",
  );
});

test("patch works in all its forms, on the status too", async ({ kubectl, withGadget }) => {
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

test("label and annotate add, refuse to overwrite, overwrite and remove", async ({ kubectl, withGadget }) => {
  const n = await withGadget();
  expect(await kubectl.ok(`label gd one ${n} a=b`)).toBe("gadget.example.dev/one labeled\n");
  expect((await kubectl.run(`label gd one ${n} a=c`)).stderr).toBe(
    "error: 'a' already has a value (b), and --overwrite is false\n",
  );
  expect((await kubectl.run(`label gd one ${n} a=c --overwrite`)).code).toBe(0);
  expect(await kubectl.ok(`label gd one ${n} a-`)).toBe("gadget.example.dev/one unlabeled\n");
  expect(await kubectl.ok(`annotate gd one ${n} note=hello`)).toBe("gadget.example.dev/one annotated\n");
});

test("scale changes the count of a custom kind and of a Deployment, and minds the rules", async ({
  kubectl,
  withGadget,
}) => {
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

test("replace puts a new object in the place of the old one", async ({ kubectl, withGadget }) => {
  const n = await withGadget();
  expect(await kubectl.ok(`replace ${n} -f -`, [], { input: gadget(4) })).toBe("gadget.example.dev/one replaced\n");
  expect(await kubectl.ok(`replace --force ${n} -f -`, [], { input: gadget(1) })).toMatch(
    /"one" deleted[^]*gadget.example.dev\/one replaced\n$/,
  );
});
