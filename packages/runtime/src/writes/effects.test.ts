import { SetpointError } from "@setpoint/apimachinery";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { candy } from "../run/controller-world.fixture.ts";
import { Effects } from "./effects.ts";
import { LedgerKeeper } from "./ledger-keeper.ts";

test("an effect is not done when the lease has run out since its intent was written, though nobody has said so yet", async () => {
  const { clock } = simulatedHost(1);
  const { signal } = new AbortController();
  const metadata = { name: "lolly", namespace: "default", uid: "u", resourceVersion: "1", creationTimestamp: "" };
  const object = { ...candy("mint"), metadata };
  let isLeader = true;
  const keeper = new LedgerKeeper({
    ...{ controller: "candy", kind: "Candy", isDeclared: true, clock, signal, current: () => object },
    fresh: async () => object,
    async annotate() {
      // The answer to the intent comes after a long pause of the process.
      isLeader = false;
    },
  });
  const effects = new Effects({
    ...{ keeper, controller: "candy", uid: "u", signal, changesOutside: () => {} },
    assertMayWrite() {
      if (!isLeader) throw new SetpointError("ERR_NOT_LEADER", "the lease is over");
    },
  });
  const done: string[] = [];
  const ordering = effects.effect("order", {
    find: async () => undefined,
    async do(key) {
      done.push(key);
      return key;
    },
  });
  await expect(ordering).rejects.toMatchObject({ code: "ERR_NOT_LEADER" });
  expect(done).toEqual([]);
});
