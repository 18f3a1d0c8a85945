/**
 * Makes the destination equal to one revision of the source: keys that differ are written, and keys that the
 * source does not have are deleted. Both are read side by side in pages, so memory does not grow with the
 * data, and a copy that begins again writes only what is missing.
 */
import { ChangeBatch } from "./change-batches.ts";
import { type KeyMapping, mappedKey, rangeOf, recordPrefix } from "./key-range.ts";
import type { KeyChange, KeyPage, KeyValue, MirrorDestination, MirrorSource } from "./mirror-end.ts";
import type { MirrorWriter } from "./mirror-writer.ts";

export interface CopyOptions {
  readonly source: MirrorSource;
  readonly destination: MirrorDestination;
  readonly mapping: KeyMapping;
  readonly writer: MirrorWriter;
}

/** Resolves with the revision of the source, when the destination is equal to it. */
export async function copyAll({ source, destination, mapping, writer }: CopyOptions): Promise<number> {
  const head = await source.head();
  const { copies } = writer.record;
  await writer.write([], { source: head.clusterId, revision: 0, sourceRevision: head.revision, problem: undefined });
  const count = { keys: 0 };
  const wanted = mappedEntries(source.pages(rangeOf(mapping.source), head.revision), mapping, count);
  const present = presentEntries(destination.pages(rangeOf(mapping.destination)));
  const batch = new ChangeBatch();
  for await (const change of differences(wanted, present)) {
    if (batch.isFullFor([change])) await flush(batch, writer);
    batch.add(change);
  }
  if (!batch.isEmpty) await flush(batch, writer);
  await writer.write([], { revision: head.revision, copies: copies + 1, keys: count.keys });
  return head.revision;
}

async function flush(batch: ChangeBatch, writer: MirrorWriter): Promise<void> {
  const { changes, hasRoom } = batch.take();
  await writer.write(changes, {}, hasRoom);
}

async function* mappedEntries(
  pages: AsyncIterable<KeyPage>,
  mapping: KeyMapping,
  count: { keys: number },
): AsyncGenerator<KeyValue> {
  for await (const { entries } of pages)
    for (const { key, value } of entries) {
      const mapped = mappedKey(key, mapping);
      if (mapped === undefined) continue;
      count.keys++;
      yield { key: mapped, value };
    }
}

/** What is there without the records of mirrors. */
export async function* presentEntries(pages: AsyncIterable<KeyPage>): AsyncGenerator<KeyValue> {
  for await (const { entries } of pages) yield* entries.filter(({ key }) => !key.startsWith(recordPrefix));
}

/** Both sides are in the order of keys, because one prefix replaces the other. */
async function* differences(
  wanted: AsyncGenerator<KeyValue>,
  present: AsyncGenerator<KeyValue>,
): AsyncGenerator<KeyChange> {
  let [left, right] = [await wanted.next(), await present.next()];
  while (left.done !== true || right.done !== true) {
    if (right.done === true || (left.done !== true && left.value.key < right.value.key)) {
      // `left` is not done, or the loop had ended.
      yield left.value as KeyValue;
      left = await wanted.next();
    } else if (left.done === true || right.value.key < left.value.key) {
      yield { key: right.value.key };
      right = await present.next();
    } else {
      if (left.value.value !== right.value.value) yield left.value;
      [left, right] = [await wanted.next(), await present.next()];
    }
  }
}
