/** `setpoint dev`: a file is edited while its operator runs, and the cluster stays as it is. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigMap } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { afterAll, expect, test, vi } from "vitest";
import { Candy } from "../examples/candy/candy.ts";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const example = new URL("../examples/candy/candy.ts", import.meta.url).pathname;
// Inside the repository, so that its packages are found; ignored by git and by the other tools.
const parent = new URL("../packages/cli/.setpoint/", import.meta.url).pathname;
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, "dev-"));
const file = join(folder, "candy.ts");
const kubeconfig = join(folder, ".setpoint/kubeconfig");
const source = readFileSync(example, "utf8");
writeFileSync(file, source);

const child = spawn(process.execPath, [bin, "dev", file, "--nodes", "0", "--kubeconfig", kubeconfig]);
let said = "";
for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
afterAll(async () => {
  child.kill("SIGKILL");
  await ended;
  rmSync(folder, { recursive: true });
});

const host = { ...systemHost(), log: silentLogger };
const until = (look: () => unknown): Promise<unknown> => vi.waitFor(look, { timeout: 30_000, interval: 50 });
const heard = (text: string): Promise<unknown> => until(() => expect(said).toContain(text));

test("an edit takes effect in the cluster, a mistake is reported and changes nothing, and ^C ends everything", async () => {
  await heard("Ready: https://");
  await heard('"message":"Ready"');
  await using transport = connect({ clock: host.clock, kubeconfig });
  const client = createClient(transport, host);
  await client.create(Candy, Candy({ name: "mint", namespace: "default", spec: { name: "Mint" } }));
  const data = async (): Promise<unknown> =>
    (await client.get(ConfigMap, { name: "mint-wrapper", namespace: "default" })).data;
  await until(async () => expect(await data()).toEqual({ name: "Mint", flavor: "mint" }));

  writeFileSync(file, source.replace("data: candy.spec", 'data: { ...candy.spec, color: "green" }'));
  await heard(`Reloaded ${file}`);
  await until(async () => expect(await data()).toMatchObject({ color: "green" }));

  said = "";
  writeFileSync(file, source.replace("export default", "export const nothing ="));
  await heard(`${file} does not load: the operator from before goes on`);
  expect(said).toContain("it has no default export; write `export default defineOperator({ … })`");
  await client.patch(ConfigMap, { name: "mint-wrapper", namespace: "default" }, { data: { color: "red" } });
  await until(async () => expect(await data()).toMatchObject({ color: "green" }));

  child.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(said).toContain("SIGINT: stopping");
});
