/** Applies objects as `kubectl apply --server-side` would. */
import { isApiError, isSetpointError, type KubeObject } from "@setpoint/apimachinery";
import { type Client, RestMapping } from "@setpoint/client";
import { type Clock, sleep } from "@setpoint/host";

const fieldManager = "setpoint";
/** A kind that was just installed may need a moment until it is served. */
const servedMsMax = 10_000;
const retryMs = 100;

/** In their order, so that kinds come before their objects; each is yielded when it is applied. */
export async function* applyObjects<T extends KubeObject>(
  client: Client,
  clock: Clock,
  objects: readonly T[],
): AsyncGenerator<T> {
  const mapping = new RestMapping(client, { clock });
  for (const object of objects) {
    await whenServed(clock, async () =>
      client.apply(await mapping.ofObject(object), object, { fieldManager, force: true }),
    );
    yield object;
  }
}

async function whenServed(clock: Clock, apply: () => Promise<unknown>): Promise<void> {
  const deadlineMs = clock.monotonic() + servedMsMax;
  for (;;) {
    try {
      await apply();
      return;
    } catch (error) {
      const isUnserved = isSetpointError(error, "ERR_UNKNOWN_RESOURCE") || (isApiError(error) && error.code === 404);
      if (!isUnserved || clock.monotonic() > deadlineMs) throw error;
      await sleep(clock, retryMs);
    }
  }
}
