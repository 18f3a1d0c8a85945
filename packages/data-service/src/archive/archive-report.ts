/** What the status of an instance says of its archive; pure. */
import { z } from "zod";
import {
  type Archive,
  type ArchiveGap,
  type ComparePositions,
  gapsOf,
  newestTimeline,
  type RecoverableWindow,
  timeOf,
  windowOf,
} from "./archive-window.ts";

/** As many as a person reads. */
const gapsMax = 10;

const gap = z.object({ timeline: z.int(), from: z.string(), to: z.string() });

/** What an instance's server reports of its archive; a field for the status of the engine's kind. */
export const archiveReportSchema = z.object({
  window: z
    .object({
      from: z.string().describe("The earliest time that can be restored without a gap up to the end."),
      to: z.string().describe("The time of the last change that is in the store."),
      end: z.string().describe("The first position that is not in the store."),
      timeline: z.int(),
      complete: z.boolean().describe("Whether it reaches to the end of what is in the store."),
    })
    .optional()
    .describe("What can be restored; absent while no verified backup has its log."),
  gaps: z.array(gap).optional().describe("Positions that the store lacks, the first ten."),
  gapCount: z.int().describe("How many gaps there are."),
  lastArchived: z.object({ name: z.string(), at: z.string() }).optional().describe("The last segment stored."),
  failing: z.object({ since: z.string(), message: z.string() }).optional().describe("Why nothing is stored now."),
});

/** What can be restored. */
interface ReportedWindow {
  readonly from: string;
  readonly to: string;
  readonly end: string;
  readonly timeline: number;
  readonly complete: boolean;
}

/** The same as a type; `archiveReportSchema` describes its fields. */
export interface ArchiveReport {
  readonly window?: ReportedWindow | undefined;
  readonly gaps?: readonly ArchiveGap[] | undefined;
  readonly gapCount: number;
  readonly lastArchived?: { readonly name: string; readonly at: string } | undefined;
  readonly failing?: { readonly since: string; readonly message: string } | undefined;
}

/** How the archiving went lately. */
export type ArchivingState = Pick<ArchiveReport, "lastArchived" | "failing">;

/**
 * The summary of what the store has. It is never empty: an API server refuses a status that is applied with a
 * map that has lost its last field.
 */
export function archiveReport(
  archive: Archive,
  compare: ComparePositions,
  { lastArchived, failing }: ArchivingState = {},
): ArchiveReport {
  const gaps = gapsOf(archive, compare);
  const window = currentWindow(archive, compare);
  return {
    ...(window === undefined ? {} : { window }),
    gapCount: gaps.length,
    ...(gaps.length === 0 ? {} : { gaps: gaps.slice(0, gapsMax) }),
    ...(lastArchived === undefined ? {} : { lastArchived }),
    ...(failing === undefined ? {} : { failing }),
  };
}

/** Along the newest history: the farthest end, and the earliest backup that leads there. */
function currentWindow(archive: Archive, compare: ComparePositions): ArchiveReport["window"] {
  const timeline = newestTimeline(archive);
  const windows = archive.bases.flatMap((base) => windowOf(base, timeline, archive, compare) ?? []);
  const [first] = windows.toSorted((a, b) => compare(b.end, a.end) || a.fromMs - b.fromMs);
  if (first === undefined) return undefined;
  const own = archive.segments.filter((each) => each.timeline === timeline);
  return reported(
    first,
    own.every((segment) => compare(segment.end, first.end) <= 0),
  );
}

function reported({ fromMs, toMs, end, timeline }: RecoverableWindow, complete: boolean): ReportedWindow {
  return { from: timeOf(fromMs), to: timeOf(toMs), end, timeline, complete };
}
