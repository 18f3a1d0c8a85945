import { Pod } from "setpoint/kinds";
import { allOracles, invariant, patch, reconcilerLaws, simulate, story } from "setpoint/testing";
import { expect, test } from "vitest";
import operator, { PodSet } from "./pod-set.ts";

const web = PodSet({ name: "web", spec: { image: "web:1", replicas: 3 } });

test("a deleted pod comes back, and a smaller PodSet has fewer pods", async () => {
  await using world = await simulate({ seed: 1, operators: [operator] });
  await world.apply(web);
  await world.settled();
  await world.delete(Pod, "web-1");
  await world.settled();
  expect((await world.get(PodSet, "web")).status).toEqual({ replicas: 3, podNames: ["web-0", "web-1", "web-2"] });
  await world.patch(PodSet, "web", { spec: { replicas: 1 } });
  await world.settled();
  expect((await world.list(Pod)).map(({ metadata }) => metadata.name)).toEqual(["web-0"]);
  await world.expectQuiet({ hours: 1 });
});

test("there are never more pods than replicas, also under stale caches, crashes and lost answers", async () => {
  await reconcilerLaws(() => ({ operators: [operator] }), {
    seed: 1,
    seconds: Number(process.env["LAW_SECONDS"] ?? 8),
    worlds: [
      story(
        "grows and shrinks",
        web,
        patch(PodSet, "web", { spec: { replicas: 5 } }),
        patch(PodSet, "web", { spec: { replicas: 2 } }),
      ),
    ],
    oracles: [...allOracles, invariant("never more pods than replicas", (view) => view.list(Pod).length <= 5)],
  });
});
