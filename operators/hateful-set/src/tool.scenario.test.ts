/** The command `setpoint chaos strike` against the simulated world. */
import { minutes } from "setpoint";
import { StatefulSet } from "setpoint/kinds";
import { expect, test } from "vitest";
import { chaosNames } from "./kind/chaos-names.ts";
import { chaos, setUp } from "./testing/hateful-stage.ts";
import { strike } from "./tool.ts";

async function typed(isOptedIn: boolean, name = "chaos"): Promise<{ code: number; out: string; err: string }> {
  await using world = await setUp(1);
  if (!isOptedIn) await world.patch(StatefulSet, "web", { metadata: { labels: { [chaosNames.chaos]: null } } });
  await world.apply(chaos({ chaosLevel: 0 }));
  await world.settled();
  const written = { out: "", err: "" };
  const output = {
    out: (text: string) => void (written.out += text),
    err: (text: string) => void (written.err += text),
  };
  const desk = { client: world.client, host: world.host, output };
  const code = await world.wait(strike(desk, { name, namespace: "default" }, minutes(5)), { within: minutes(6) });
  return { code, ...written };
}

test("strike reports the recovery, with what the target said", async () => {
  const { code, out } = await typed(true);
  expect(code).toBe(0);
  expect(out).toMatch(/^Pod web-\d of StatefulSet web: Recovered after \d+ s\n/);
  expect(out).toContain("2 replicas ready");
});

test("strike says that nobody has opted in", async () => {
  const { code, err } = await typed(false);
  expect(code).toBe(1);
  expect(err).toContain(
    "Nobody was struck: no pod is opted in: set the label control-plane.io/chaos=enabled on pods, on their owner or on",
  );
});

test("strike names a HatefulSet that does not exist", async () => {
  await expect(typed(true, "calm")).rejects.toThrow('HatefulSet "default/calm": it does not exist');
});
