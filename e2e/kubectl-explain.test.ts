/** Stock kubectl finds a kind by its short name and explains it: the example and that of a new project. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { Candy } from "../examples/candy/candy.ts";
import { test } from "./kubectl/stage.ts";
import { runProgram } from "./operator-project.ts";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;

test("the example's kind has a short name and descriptions", async ({ kubectl }) => {
  await kubectl.ok("apply -f -", [], { input: JSON.stringify(Candy.crd()) });
  await kubectl.ok("wait --for=condition=Established crd/candies.examples.setpoint.dev --timeout=10s");
  await kubectl.ok("create -f -", [], {
    input: JSON.stringify(Candy({ name: "lolly", namespace: "default", spec: { name: "Lolly" } })),
  });
  expect(await kubectl.ok("get cn")).toMatch(/^NAME +FLAVOR +WRAPPED +AGE\nlolly +mint +/);
  expect(await kubectl.ok("explain candy")).toMatch(/DESCRIPTION:\n +A sweet that gets a wrapper\.\n/);
  const spec = await kubectl.ok("explain candy.spec");
  expect(spec).toMatch(/flavor\t<string>\n +What it tastes of\.\n/);
  expect(spec).toMatch(/name\t<string> -required-\n +What stands on the wrapper\.\n/);
  expect(await kubectl.ok("explain cn.status.wrapped")).toMatch(/DESCRIPTION:\n +Whether the wrapper is there\.\n/);
});

test("so has the kind of a new project", async ({ kubectl }) => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-explain-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await runProgram(process.execPath, [bin, "create", "operator", "ice-cream"], folder);
  const { text } = await runProgram(process.execPath, [bin, "manifests", "ice-cream/src/index.ts"], folder);
  await kubectl.ok("apply --server-side -f -", [], { input: text });
  await kubectl.ok("wait --for=condition=Established crd/icecreams.ice-cream.example.com --timeout=10s");
  // `get` reads again what the server has when it does not know a name; `explain` does not.
  expect((await kubectl.run("get ic")).stderr).toContain("No resources found");
  expect(await kubectl.ok("explain ic.spec.greeting")).toMatch(/DESCRIPTION:\n +What the ConfigMap says\.\n/);
});
