import { expect, test } from "vitest";
import { candy, Candy, createControllerWorld } from "../run/controller-world.fixture.ts";
import type { Transform } from "./checked-transform.ts";
import { Informer } from "./informer.ts";

async function problemOf(
  transform: Transform,
): Promise<{ readonly problem: string | undefined; readonly size: number }> {
  await using world = createControllerWorld();
  await world.client.create(Candy, candy("mint"));
  const informer = new Informer(world.client, world.host, Candy, { transform });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await world.run(10_000);
  const { problem } = informer;
  stop.abort(new Error("the test is over"));
  await world.wait(running);
  return { problem, size: informer.store.size };
}

test("a transform that drops what the cache knows objects by is named as the problem, and nothing vanishes silently", async () => {
  const { problem } = await problemOf(({ metadata: { uid: _uid, ...metadata }, ...rest }) => ({
    ...rest,
    // As an author without types may do.
    metadata: metadata as typeof metadata & { readonly uid: string },
  }));
  expect(problem).toBe(
    "Cannot cache Candy: the `transform` of its cache changes or drops metadata.uid, which identifies objects; keep name, namespace, uid, resourceVersion",
  );
});

test("a transform that drops other fields is none of the cache's business", async () => {
  const answer = await problemOf(({ apiVersion, kind, metadata: { labels: _labels, ...metadata } }) => ({
    ...{ apiVersion, kind, metadata },
  }));
  expect(answer).toEqual({ problem: undefined, size: 1 });
});
