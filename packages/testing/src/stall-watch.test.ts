import { expect, test } from "vitest";
import { StallWatch } from "./stall-watch.ts";

test("a run that stalls is reported, also when another one ends meanwhile", async () => {
  const watch = new StallWatch(300);
  const endless = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) await Promise.resolve();
  };
  const short = watch.watched(() => new Promise<string>((resolve) => setTimeout(resolve, 20, "done")));
  const stalling = watch.watched(endless);
  await expect(stalling).rejects.toThrow(/no step ended within 0.3 s.*\n\s+at endless /);
  expect(await short).toBe("done");
});
