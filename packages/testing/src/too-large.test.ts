/** Objects beyond the limit of the store, which the server answers with a 500 that says no more than that. */
import { conditions, controller, defineKind, defineOperator, type ReconcileContext } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { conditionOf, simulate } from "./index.ts";

const Candy = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Candy",
  spec: z.object({ flavor: z.string() }),
  status: z.object({ report: z.string().optional(), conditions: conditions().optional() }),
});
const Box = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Box",
  spec: z.object({ list: z.string() }),
});
type Status = { readonly report?: string };

const large = "x".repeat(2_000_000);

/** What the object says of it, and how often the write was sent in an hour. */
async function afterAnHour(
  write: (context: ReconcileContext<Status>, flavor: string) => Promise<unknown>,
  path: string,
): Promise<readonly [string, number]> {
  const candies = controller(Candy, {
    owns: [Box],
    reconcile: async ({ spec }, context) => void (await write(context, spec.flavor)),
  });
  await using world = await simulate({
    seed: 1,
    operators: [defineOperator({ name: "candy", controllers: [candies] })],
  });
  await world.apply(Candy({ name: "lolly", spec: { flavor: "mint" } }));
  await world.run(3_600_000);
  const stalled = conditionOf(await world.get(Candy, "lolly"), "Stalled");
  const sent = world.trace.filter((line) => line.includes(`candy `) && line.includes(`${path} → 500`)).length;
  await world.patch(Candy, "lolly", { spec: { flavor: "lime" } });
  await world.settled();
  expect(conditionOf(await world.get(Candy, "lolly"), "Stalled")).toMatchObject({ status: "False" });
  return [`${stalled?.reason}: ${stalled?.message}`, sent];
}

test("a status that is too large says which field it is and what the limit is, and is not sent again", async () => {
  const [said, sent] = await afterAnHour(
    ({ status }, flavor) => status({ report: flavor === "mint" ? large : "short" }),
    "default/candies/lolly/status",
  );
  expect(said).toBe(
    'TooLarge: Cannot PATCH /apis/examples.setpoint.dev/v1/namespaces/default/candies/lolly/status: the API server stores at most about 1.5 MiB in an object, and "status.report" has 1.9 MiB; keep less there, or keep it elsewhere (etcdserver: request is too large)',
  );
  expect(sent).toBe(1);
});

test("a child that is too large is reported in the same way", async () => {
  const [said, sent] = await afterAnHour(
    ({ apply }, flavor) => apply(Box({ name: "list", spec: { list: flavor === "mint" ? large : "short" } })),
    "default/boxes/list",
  );
  expect(said).toContain('"spec.list" has 1.9 MiB');
  expect(sent).toBe(1);
});
