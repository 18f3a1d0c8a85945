/** A controller declared in YAML whose function is a Python program. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { ConfigMap, CustomResourceDefinition } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { startManager } from "@setpoint/runtime";
import { defineKind } from "setpoint";
import { httpHook, readCompositeController } from "setpoint/hook";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

const example = new URL("../examples/hook/", import.meta.url).pathname;
const python = ["python3", "/usr/bin/python3"].find((name) => spawnSync(name, ["--version"]).status === 0);
if (python === undefined) console.warn("skipped: a hook in Python: there is no python3 on this machine");

const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavors: z.array(z.string()) }),
  status: z.object({ wrappers: z.int().optional() }),
});

/** The program, and the address that it says it listens on. */
async function startHook(command: string): Promise<AsyncDisposable & { readonly url: string }> {
  const program: ChildProcess = spawn(command, [`${example}hook.py`, "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(program.stdout as NonNullable<ChildProcess["stdout"]>, "data")) as [Buffer];
  const port = /listening on (\d+)/.exec(line.toString())?.[1] ?? "";
  return {
    url: `http://127.0.0.1:${port}/sync`,
    async [Symbol.asyncDispose]() {
      const ended = once(program, "exit");
      program.kill("SIGKILL");
      await ended;
    },
  };
}

test.skipIf(python === undefined)("a hook in Python reconciles what a YAML file declares", async () => {
  await using hook = await startHook(python ?? "");
  await using cluster = await startControlPlane();
  const host = systemHost({ write: () => {} });
  const client = createClient(cluster.transport, host);
  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    const deadlineMs = host.clock.monotonic() + 30_000;
    while (!(await holds())) {
      if (host.clock.monotonic() > deadlineMs) throw new Error(`Not in time: ${what}`);
      await sleep(host.clock, 20);
    }
  };
  const crd = Candy.crd() as CustomResourceDefinition;
  await client.create(CustomResourceDefinition, crd);
  await until("the kind is served", async () => {
    const { status } = await client.get(CustomResourceDefinition, { name: crd.metadata.name ?? "" });
    return status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
  });

  const documents = [...parseAllDocuments(readFileSync(`${example}candies.yaml`, "utf8"))];
  const manifest: unknown = documents.at(-1)?.toJS();
  const controller = readCompositeController(manifest, {
    mapper: await client.discover(),
    connect: (_url, timeoutMs = 5_000) => httpHook(hook.url, { clock: host.clock, timeoutMs }),
  });
  await using manager = startManager({ transport: cluster.transport, host, controllers: [controller] });
  await manager.ready;
  await client.create(Candy, Candy({ name: "lolly", namespace: "default", spec: { flavors: ["mint", "lime"] } }));
  const lolly = { name: "lolly", namespace: "default" };
  await until("two wrappers", async () => (await client.get(Candy, lolly)).status?.wrappers === 2);
  await client.patch(Candy, lolly, { spec: { flavors: ["plum"] } });
  await until("one wrapper", async () => (await client.get(Candy, lolly)).status?.wrappers === 1);
  const names = (await client.listAll(ConfigMap, { namespace: "default" })).items.map(({ metadata }) => metadata.name);
  expect(names.filter((name) => name.startsWith("lolly"))).toEqual(["lolly-plum"]);
});
