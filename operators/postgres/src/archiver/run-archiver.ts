/**
 * The container beside PostgreSQL that stores its log. It has the access to the store, which the server and
 * its superuser have not.
 */
import {
  agentPaths,
  concealingLogger,
  folderConcealment,
  LogArchiver,
  openLogArchive,
} from "@setpoint/data-service/agent";
import { sleep, timestamp } from "@setpoint/host";
import { systemClock, systemLogger } from "@setpoint/host/system";
import { isArchived, postgresLog } from "../engine/postgres-log.ts";
import { archivePath } from "../kind/names.ts";
import { ArchiveFolder } from "../manager/archive-folder.ts";

const lookEveryMs = 100;
const reportEveryMs = 30_000;
const listingShare = 20;
const openAgainMs = 5_000;
/** Less than the grace period of the pod. */
const lastSegmentsMsMax = 25_000;

/** Runs until it is asked to end and the server has ended, which archives what it has left; its exit code. */
export async function runArchiver(): Promise<number> {
  const conceal = folderConcealment([agentPaths.storeSecret, agentPaths.encryptionSecret]);
  const log = concealingLogger(systemLogger(), conceal);
  const folder = new ArchiveFolder(archivePath);
  const { end, isAskedToEnd } = endings();
  const surroundings = { folder, log, conceal, signal: end };
  const archiver = await opened(surroundings);
  let nextReportMs = Number.NEGATIVE_INFINITY;
  while (!end.aborted && !(isAskedToEnd() && folder.hasServerEnded)) {
    const answered = archiver === undefined ? 0 : await storeWaiting(archiver, surroundings);
    const beganMs = systemClock.monotonic();
    if (archiver !== undefined && beganMs >= nextReportMs - (answered > 0 ? reportEveryMs : 0)) {
      await report(archiver, surroundings);
      // To list a large store takes long: it may take a twentieth of the time.
      nextReportMs = beganMs + Math.max(reportEveryMs, listingShare * (systemClock.monotonic() - beganMs));
    }
    await sleep(systemClock, lookEveryMs);
  }
  return 0;
}

function endings(): { readonly end: AbortSignal; readonly isAskedToEnd: () => boolean } {
  const end = new AbortController();
  const asked = new AbortController();
  const beginToEnd = (): void => {
    asked.abort();
    void sleep(systemClock, lastSegmentsMsMax).then(() => end.abort());
  };
  for (const name of ["SIGTERM", "SIGINT"]) process.once(name, beginToEnd);
  return { end: end.signal, isAskedToEnd: () => asked.signal.aborted };
}

/** A store that cannot be opened, for a missing key of its Secret, is no reason to end: the server serves. */
async function opened({ folder, log, conceal, signal }: Surroundings): Promise<LogArchiver | undefined> {
  const since = timestamp(systemClock);
  while (!signal.aborted) {
    try {
      const archive = openLogArchive(postgresLog);
      if (archive === undefined) throw new Error("The pod names no archive; the operator does that");
      return new LogArchiver(archive, systemClock);
    } catch (error) {
      const message = conceal(error instanceof Error ? error.message : String(error));
      log.warn("Cannot open the archive", { error: message });
      folder.writeReport({ gapCount: 0, failing: { since, message } });
    }
    await sleep(systemClock, openAgainMs);
  }
  return undefined;
}

interface Surroundings {
  readonly folder: ArchiveFolder;
  readonly log: ReturnType<typeof concealingLogger>;
  readonly conceal: (text: string) => string;
  readonly signal: AbortSignal;
}

/** How many requests were answered. */
async function storeWaiting(archiver: LogArchiver, surroundings: Surroundings): Promise<number> {
  const { folder, log } = surroundings;
  try {
    const names = folder.requests();
    for (const name of names)
      folder.answer(name, isArchived(name) ? await store(name, archiver, surroundings) : undefined);
    return names.length;
  } catch (error) {
    log.warn("Cannot read what waits to be stored", { error: String(error) });
    return 0;
  }
}

async function store(
  name: string,
  archiver: LogArchiver,
  { folder, log, conceal, signal }: Surroundings,
): Promise<string | undefined> {
  try {
    await archiver.archive(name, folder.read(name), signal);
    log.info("Stored segment", { name });
    return undefined;
  } catch (error) {
    const message = conceal(error instanceof Error ? error.message : String(error));
    log.warn("Cannot store segment", { name, error: message });
    return message;
  }
}

/** A store that cannot be listed now is the reason in the report when a segment fails; here it is a line. */
async function report(archiver: LogArchiver, { folder, log, conceal, signal }: Surroundings): Promise<void> {
  try {
    folder.writeReport(await archiver.report(signal));
  } catch (error) {
    log.warn("Cannot list the archive", { error: conceal(error instanceof Error ? error.message : String(error)) });
  }
}
