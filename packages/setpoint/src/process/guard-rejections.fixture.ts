/** An operator's process that does not await a write that the server refuses. */
import { ConfigMap } from "@setpoint/api";
import type { ReconcileContext } from "@setpoint/runtime";
import { controller } from "setpoint";
import { Candy, createHookWorld } from "../hook/hook-world.fixture.ts";
import { guardRejections } from "./guard-rejections.ts";

using _guard = guardRejections();
await using world = await createHookWorld((line) => void process.stdout.write(line));
const isForeign = process.argv[2] === "foreign";
await world.start(
  controller(Candy, {
    owns: [ConfigMap],
    async reconcile(_candy, { apply }: ReconcileContext) {
      if (isForeign) void Promise.reject(new Error("of another part"));
      else void apply(ConfigMap({ name: "with a space", data: {} }));
    },
  }),
);
await world.client.create(Candy, Candy({ name: "lolly", spec: { flavors: [] } }));
await world.until("the failure is on the object", async () =>
  JSON.stringify(await world.seen("lolly")).includes("False"),
);
process.stdout.write(`${JSON.stringify(await world.seen("lolly"))}\nstill here\n`);
