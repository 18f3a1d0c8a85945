/** The program of a mirror's pod: copy once, then follow the source, and begin again after every failure. */
import { type Clock, type Logger, sleep } from "@setpoint/host";
import { ChangeBatch } from "./change-batches.ts";
import { copyAll, presentEntries } from "./full-copy.ts";
import { type KeyMapping, mappedKey, overlaps, rangeOf } from "./key-range.ts";
import {
  CompactedError,
  type KeyChange,
  type MirrorDestination,
  MirrorProblem,
  type MirrorSource,
  type WatchEvent,
  type WatchMessage,
} from "./mirror-end.ts";
import { heartbeatMs, type MirrorRecord } from "./mirror-record.ts";
import { MirrorWriter } from "./mirror-writer.ts";
import { refuseOpposite } from "./opposite-mirrors.ts";

/** How often the source is asked for its revision while nothing comes. */
export const pollMs = 10_000;
const messageLengthMax = 1_000;
const retryMsMin = 1_000;
const retryMsMax = 30_000;

/** Connections of one attempt; they end with its signal. */
export interface MirrorEnds {
  readonly source: MirrorSource;
  readonly destination: MirrorDestination;
}

export interface MirrorOptions {
  readonly connect: (signal: AbortSignal) => MirrorEnds;
  readonly mapping: KeyMapping;
  readonly recordKey: string;
  /** Whether a first copy may replace and delete keys that the destination has. */
  readonly replacesKeys: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes secrets out of what the record says. */
  readonly conceal: (text: string) => string;
  readonly signal: AbortSignal;
}

/** Resolves when the signal is aborted. */
export async function runMirrorLoop(options: MirrorOptions): Promise<void> {
  const { signal, log, clock } = options;
  for (let delayMs = retryMsMin; !signal.aborted;) {
    const startedMs = clock.monotonic();
    const error = await attempt(options);
    if (signal.aborted) return;
    // One that went well for a while does not count as one more failure.
    if (clock.monotonic() - startedMs > retryMsMax) delayMs = retryMsMin;
    log.warn("Mirror was interrupted", { error, retryMs: delayMs });
    await sleep(clock, delayMs, signal).catch(() => {});
    delayMs = Math.min(delayMs * 2, retryMsMax);
  }
}

/** Returns why it ended. */
async function attempt(options: MirrorOptions): Promise<unknown> {
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const ends = options.connect(signal);
  const session: { writer?: MirrorWriter } = {};
  try {
    session.writer = await MirrorWriter.open({ ...ends, ...options });
    await mirror(session.writer, ends, options, signal);
    return undefined;
  } catch (error) {
    if (!options.signal.aborted) await report(session.writer, error, options);
    return error;
  } finally {
    ending.abort();
  }
}

/** The record is the only way to tell the operator. */
async function report(
  writer: MirrorWriter | undefined,
  error: unknown,
  { log, conceal }: MirrorOptions,
): Promise<void> {
  if (writer === undefined || !(error instanceof MirrorProblem) || error.reason === "TakenOver") return;
  const { reason } = error;
  const message = conceal(error.message).slice(0, messageLengthMax);
  const { problem } = writer.record;
  if (problem?.reason === reason && problem.message === message) return;
  await writer
    .write([], { problem: { reason, message } })
    .catch((cause: unknown) => log.warn("Could not record why the mirror was interrupted", { error: cause }));
}

async function mirror(
  writer: MirrorWriter,
  ends: MirrorEnds,
  options: MirrorOptions,
  signal: AbortSignal,
): Promise<void> {
  const { log } = options;
  const head = await checkEnds(writer, ends, options);
  let from = continues(writer.record, head) ? writer.record.revision : 0;
  if (from === 0) {
    log.info("Started copy", { revision: head.revision });
    from = await copyAll({ ...ends, ...options, writer });
    log.info("Finished copy", { revision: from, keys: writer.record.keys });
  }
  try {
    await follow(from, writer, ends, options, signal);
  } catch (error) {
    // The next attempt, after a pause, compares everything.
    if (error instanceof CompactedError) await writer.write([], { revision: 0 });
    throw error;
  }
}

async function checkEnds(
  writer: MirrorWriter,
  { source, destination }: MirrorEnds,
  { mapping, replacesKeys }: MirrorOptions,
): Promise<{ readonly clusterId: string; readonly revision: number }> {
  const [head, other] = await Promise.all([source.head(), destination.head()]);
  if (head.clusterId === other.clusterId && overlaps(mapping))
    throw new MirrorProblem("SameCluster", "Source and destination are one cluster, and the prefixes overlap.");
  await refuseOpposite(source, mapping, other.clusterId);
  if (replacesKeys || continues(writer.record, head)) return head;
  const [first] = await Array.fromAsync(take(presentEntries(destination.pages(rangeOf(mapping.destination))), 1));
  if (first === undefined) return head;
  const allow = "a copy would replace or delete. Set spec.existingKeys to Replace to allow that.";
  if (writer.record.source === "")
    throw new MirrorProblem(
      "DestinationNotEmpty",
      `The destination has keys with the prefix of the mirror, which ${allow}`,
    );
  throw new MirrorProblem(
    "SourceReplaced",
    `Another etcd answers at the endpoints of the source, or it went back to older data. The destination has keys of the one before, which ${allow}`,
  );
}

/**
 * Whether the keys of the destination are this mirror's, and of this source's history. An etcd that was set
 * up again, or went back to older data, would empty the destination.
 */
function continues(
  { source, revision }: MirrorRecord,
  head: { readonly clusterId: string; readonly revision: number },
): boolean {
  return source === head.clusterId && revision <= head.revision;
}

async function* take<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let taken = 0;
  for await (const item of items) {
    yield item;
    if (++taken >= count) return;
  }
}

/** Ends by an error only. */
async function follow(
  from: number,
  writer: MirrorWriter,
  { source }: MirrorEnds,
  { mapping, clock }: MirrorOptions,
  signal: AbortSignal,
): Promise<void> {
  const follower = new Follower(writer, mapping, clock);
  const messages = source.watch(rangeOf(mapping.source), from + 1);
  for (let next = messages.next(); ;) {
    const timer = new AbortController();
    const tick = sleep(clock, pollMs, AbortSignal.any([signal, timer.signal])).catch(() => {});
    const got = await Promise.race([next, tick]).finally(() => {
      timer.abort();
      // An attempt that fails elsewhere leaves this one to the signal.
      next.catch(() => {});
    });
    signal.throwIfAborted();
    if (got === undefined) {
      await follower.checked((await source.head()).revision);
      continue;
    }
    if (got.done === true) throw new MirrorProblem("SourceUnreachable", "The source ended the watch.");
    await follower.apply(got.value);
    next = messages.next();
  }
}

/** Writes what a watch delivers. */
class Follower {
  readonly #writer: MirrorWriter;
  readonly #mapping: KeyMapping;
  readonly #clock: Clock;
  readonly #batch = new ChangeBatch();

  constructor(writer: MirrorWriter, mapping: KeyMapping, clock: Clock) {
    this.#writer = writer;
    this.#mapping = mapping;
    this.#clock = clock;
  }

  async apply({ events, revision, isPart }: WatchMessage): Promise<void> {
    let complete = this.#writer.record.revision;
    for (const group of byRevision(events)) {
      const changes = group.flatMap((event) => mappedChange(event, this.#mapping));
      if (this.#batch.isFullFor(changes)) await this.#flush(complete);
      for (const change of changes) {
        // A transaction of the source that is larger than one of the destination is split.
        if (this.#batch.isFullFor([change])) await this.#flush(complete);
        this.#batch.add(change);
      }
      complete = (group[0]?.revision ?? complete) - (isPart ? 1 : 0);
    }
    // The events of the last revision may go on in the next message.
    if (!isPart) complete = Math.max(revision, complete);
    if (!this.#batch.isEmpty || complete > this.#writer.record.revision) await this.#flush(complete);
  }

  /**
   * Nothing has come for a while; the source is at `sourceRevision`. The record is written now and then: that
   * is how the operator knows that the pod reaches both sides.
   */
  async checked(sourceRevision: number): Promise<void> {
    const { at, problem } = this.#writer.record;
    if (problem === undefined && this.#clock.now() - Date.parse(at) < heartbeatMs) return;
    await this.#writer.write([], { sourceRevision, problem: undefined });
  }

  async #flush(complete: number): Promise<void> {
    const { changes, hasRoom } = this.#batch.take();
    const { record } = this.#writer;
    const sourceRevision = Math.max(complete, record.sourceRevision);
    await this.#writer.write(changes, { revision: complete, sourceRevision, problem: undefined }, hasRoom);
  }
}

function* byRevision(events: readonly WatchEvent[]): Generator<readonly WatchEvent[]> {
  let group: WatchEvent[] = [];
  for (const event of events) {
    if (group[0] !== undefined && group[0].revision !== event.revision) {
      yield group;
      group = [];
    }
    group.push(event);
  }
  if (group.length > 0) yield group;
}

function mappedChange({ key, value }: WatchEvent, mapping: KeyMapping): readonly KeyChange[] {
  const mapped = mappedKey(key, mapping);
  return mapped === undefined ? [] : [{ key: mapped, ...(value === undefined ? {} : { value }) }];
}
