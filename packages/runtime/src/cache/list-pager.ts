import { isApiError, type KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, SelectorOptions } from "@setpoint/client";
import { type Clock, TimeSlices } from "@setpoint/host";
import type { StagedObjects } from "./reflector-store.ts";
import type { SyncPlan } from "./sync-plan.ts";
import { isPassing } from "./watch-errors.ts";
import type { FrameListener } from "./watch-frames.ts";

/** As client-go's pager. */
const pageSize = 500;

/** Which objects of a kind are cached, and how much of them. */
export interface ObjectSelection extends Omit<SelectorOptions, "signal"> {
  readonly metadataOnly?: boolean;
}

export interface ListPagerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly kind: KindRef;
  readonly selection: ObjectSelection;
  readonly plan: SyncPlan;
  stage(): StagedObjects;
  /** Called when the server has sent something. */
  heard(): void;
}

/** Fetches all objects of a kind, whole or in pages, parsed or as bytes. */
export class ListPager {
  readonly #options: ListPagerOptions;
  #hasBegun = false;

  constructor(options: ListPagerOptions) {
    this.#options = options;
  }

  /** A consistent list: the newest that the server has. */
  async list(listener: Pick<FrameListener, "onComplete" | "onRawComplete">, signal: AbortSignal): Promise<void> {
    const { client, kind, selection, plan } = this.#options;
    this.#hasBegun = false;
    if (client.raw !== undefined) return this.#listRaw(listener, signal);
    const whole = plan.method === "pages" ? {} : { pageSize: 0 };
    const options = { ...selection, ...whole, signal };
    const list = await this.#fetched(client.listAll<KubeObject>(kind, options), signal);
    listener.onComplete(list.items, list.resourceVersion);
  }

  async #listRaw(listener: Pick<FrameListener, "onRawComplete">, signal: AbortSignal): Promise<void> {
    const staged = this.#options.stage();
    try {
      const resourceVersion = await this.#fetched(this.#stagePages(staged, signal), signal);
      await listener.onRawComplete(staged, resourceVersion);
    } catch (error) {
      staged.discard();
      throw error;
    }
  }

  /** A list that starts and does not complete, or that the server aborts, is too large for one answer. */
  async #fetched<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
    const { plan } = this.#options;
    try {
      return await answer;
    } catch (error) {
      const isTooMuch = isApiError(error) ? !isPassing(error) : this.#hasBegun;
      if (plan.method === "list" && !signal.aborted && isTooMuch) plan.fallBack();
      throw error;
    }
  }

  /** Returns the revision of the list. */
  async #stagePages(staged: StagedObjects, signal: AbortSignal): Promise<string> {
    const { client, clock, kind, selection, plan } = this.#options;
    const slices = new TimeSlices(clock);
    const limit = plan.method === "pages" ? { limit: pageSize } : {};
    let page: { readonly resourceVersion?: string; readonly continue?: string } = {};
    do {
      const next = page.continue === undefined ? {} : { continue: page.continue };
      const list = await client.raw?.list(kind, { ...selection, ...limit, ...next, signal });
      if (list === undefined) return "";
      for await (const batch of list.batches) {
        signal.throwIfAborted();
        this.#hasBegun = true;
        this.#options.heard();
        for (const bytes of batch) {
          // Before the first object too: receiving it may have used up the slice.
          if (slices.isOver()) await slices.pause();
          staged.add(bytes);
        }
      }
      page = list.metadata();
    } while (page.continue !== undefined && page.continue !== "");
    return page.resourceVersion ?? "";
  }
}
