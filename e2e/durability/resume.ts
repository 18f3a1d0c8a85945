import { ConfigMap } from "@setpoint/api";
import { isApiError, type WatchFrame } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { describe, revisionOf, type Ledger } from "./ledger.ts";
import { namespace } from "./writer.ts";

/** How a watch from an earlier revision ended. */
export type Resumption = "gone" | "replayed" | "broken";

/**
 * Watches from `from` until a mark that is written now, and checks that everything acknowledged since is
 * shown, in order. "gone" is the honest answer of a server that does not remember so far back.
 */
export async function resume(client: Client, ledger: Ledger, from: number): Promise<Resumption> {
  const limit = new AbortController();
  const seen: number[] = [];
  try {
    const mark = await writeMark(client);
    ledger.saw(mark.revision, describe("mark", mark.value));
    const frames = await client.watch(ConfigMap, { namespace, resourceVersion: String(from), signal: limit.signal });
    for await (const frame of frames) {
      if (isGone(frame)) return "gone";
      seen.push(note(ledger, frame));
      if ((seen.at(-1) ?? 0) >= mark.revision) break;
    }
    if (seen.at(-1) !== mark.revision) return "broken";
    assertComplete(seen, ledger.acknowledgedBetween(from, mark.revision), from);
    return "replayed";
  } catch (error) {
    if (isApiError(error) && error.code === 410) return "gone";
    if (isApiError(error) || !isLostConnection(error)) throw error;
    return "broken";
  } finally {
    limit.abort();
  }
}

let marks = 0;

async function writeMark(client: Client): Promise<{ readonly revision: number; readonly value: string }> {
  const value = String(++marks);
  const mark = ConfigMap({ name: "mark", namespace, data: { value } });
  return { revision: revisionOf(await client.apply(ConfigMap, mark, { fieldManager: "mark", force: true })), value };
}

function isGone({ type, object }: WatchFrame): boolean {
  if (type !== "ERROR") return false;
  const { code } = object as { readonly code?: number };
  if (code === 410) return true;
  throw new Error(`The watch ended with ${JSON.stringify(object)}`);
}

/** Enters what a frame shows in the ledger; the frame's revision. */
function note(ledger: Ledger, { type, object }: WatchFrame): number {
  const shown = object as ConfigMap;
  const revision = revisionOf(shown);
  if (type !== "BOOKMARK")
    ledger.saw(
      revision,
      describe(shown.metadata.name ?? "", type === "DELETED" ? undefined : (shown.data?.["value"] ?? "")),
    );
  return revision;
}

function assertComplete(seen: readonly number[], wanted: readonly number[], from: number): void {
  const shown = new Set(seen);
  const missing = wanted.filter((revision) => !shown.has(revision));
  if (missing.length > 0) throw new Error(`A watch from ${from} did not show the revisions ${missing.join(", ")}`);
  const unordered = seen.findIndex((revision, i) => i > 0 && revision <= (seen[i - 1] ?? 0));
  if (unordered > 0) throw new Error(`A watch from ${from} showed ${seen[unordered]} after ${seen[unordered - 1]}`);
}

function isLostConnection(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}
