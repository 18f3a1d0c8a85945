/**
 * Mirrors that would send each change back: the destination of each is the source of the next, and the
 * prefixes overlap. Among EtcdMirrors of one namespace the operator sees it; the pod of a mirror finds those
 * of other namespaces and of other clusters by their records in its source.
 */
import type { Stored } from "setpoint";
import { type KeyMapping, overlaps, rangeOf, recordPrefix } from "./key-range.ts";
import type { EtcdMirror } from "./etcd-mirror.ts";
import { MirrorProblem, type MirrorSource } from "./mirror-end.ts";
import { type MirrorRecord, parseRecord } from "./mirror-record.ts";

type Mirror = Stored<EtcdMirror>;

/** How far a mirror is: it has a pod, it could have one, or it lacks something. */
export type MirrorState = "begun" | "able" | "unable";

/**
 * The mirrors, in their order, over which a change would come back through this one; undefined when there are
 * none. Those that have begun go on, and of the others the last one that was created is refused. One that
 * lacks something copies nothing, so it keeps no other from beginning.
 */
export function opposites(
  mirror: Mirror,
  all: readonly Mirror[],
  stateOf: (mirror: Mirror) => MirrorState = () => "able",
): readonly string[] | undefined {
  const accepted: Mirror[] = [];
  for (const each of inOrder(all, stateOf)) {
    const way = wayBack(each, [each], new Set(accepted));
    if (each.metadata.uid === mirror.metadata.uid) return way?.slice(1).map(({ metadata }) => metadata.name);
    if (way === undefined) accepted.push(each);
  }
  return undefined;
}

/** Within a second the UID decides, so that each pass refuses the same one. */
function inOrder(all: readonly Mirror[], stateOf: (mirror: Mirror) => MirrorState): readonly Mirror[] {
  const ranked = all.flatMap((mirror) => {
    const { creationTimestamp, uid } = mirror.metadata;
    const state = stateOf(mirror);
    return state === "unable" ? [] : [{ mirror, rank: `${Number(state !== "begun")} ${creationTimestamp} ${uid}` }];
  });
  return ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ mirror }) => mirror);
}

/**
 * From the last mirror of `way` on to `first`. `rest` are the mirrors that no search has reached yet: one
 * that does not lead back over one way does not over another, and there may be very many ways.
 */
function wayBack(first: Mirror, way: readonly Mirror[], rest: Set<Mirror>): readonly Mirror[] | undefined {
  const last = way.at(-1) ?? first;
  if (way.length > 1 && leadsTo(last, first)) return way;
  for (const next of rest) {
    if (!leadsTo(last, next)) continue;
    rest.delete(next);
    const found = wayBack(first, [...way, next], rest);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether the second mirror copies keys that the first one writes. */
function leadsTo({ spec: { cluster, prefix, destinationPrefix = prefix } }: Mirror, { spec: next }: Mirror): boolean {
  return next.source.cluster === cluster && overlaps({ source: next.prefix, destination: destinationPrefix });
}

/** The other mirror has begun, so that this one must not; see `opposites` for those of one namespace. */
export async function refuseOpposite(source: MirrorSource, mapping: KeyMapping, destinationId: string): Promise<void> {
  for await (const { key, record } of recordsOf(source))
    if (record.source === destinationId && isOpposite(record, mapping))
      throw new MirrorProblem(
        "OppositeMirror",
        `The source has the record "${key}" of a mirror that copies from this destination, and each would send the changes of the other back. Delete one of the two; the record goes with its mirror.`,
      );
}

/** Both ways; a record of an earlier release does not say what it copies. */
function isOpposite({ mapping: other }: MirrorRecord, mapping: KeyMapping): boolean {
  if (other === undefined) return false;
  return (
    overlaps({ source: other.source, destination: mapping.destination }) &&
    overlaps({ source: mapping.source, destination: other.destination })
  );
}

/** None where the login of the mirror may not read them. */
async function* recordsOf(
  source: MirrorSource,
): AsyncGenerator<{ readonly key: string; readonly record: MirrorRecord }> {
  try {
    for await (const { entries } of source.pages(rangeOf(recordPrefix)))
      for (const { key } of entries) {
        const record = parseRecord((await source.record(key))?.text);
        if (record !== undefined) yield { key, record };
      }
  } catch (error) {
    if (!(error instanceof MirrorProblem) || error.reason !== "SourceRefused") throw error;
  }
}
