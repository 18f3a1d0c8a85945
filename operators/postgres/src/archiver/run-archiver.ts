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
import { sleep } from "@setpoint/host";
import { systemClock, systemLogger } from "@setpoint/host/system";
import { isArchived, postgresLog } from "../engine/postgres-log.ts";
import { archivePath } from "../kind/names.ts";
import { ArchiveFolder } from "../manager/archive-folder.ts";

const lookEveryMs = 100;
const reportEveryMs = 30_000;
/** Less than the grace period of the pod. */
const lastSegmentsMsMax = 25_000;

/** Runs until it is asked to end and the server has ended, which archives what it has left; its exit code. */
export async function runArchiver(): Promise<number> {
  const archive = openLogArchive(postgresLog);
  if (archive === undefined) throw new Error("The pod names no archive; the operator does that");
  const conceal = folderConcealment([agentPaths.storeSecret, agentPaths.encryptionSecret]);
  const log = concealingLogger(systemLogger(), conceal);
  const folder = new ArchiveFolder(archivePath);
  const archiver = new LogArchiver(archive, systemClock);
  const end = new AbortController();
  const askedToEnd = new AbortController();
  const beginToEnd = (): void => {
    askedToEnd.abort();
    void sleep(systemClock, lastSegmentsMsMax).then(() => end.abort());
  };
  for (const name of ["SIGTERM", "SIGINT"]) process.once(name, beginToEnd);
  const surroundings = { log, conceal, signal: end.signal };
  let reportedMs = Number.NEGATIVE_INFINITY;
  while (!end.signal.aborted && !(askedToEnd.signal.aborted && folder.hasServerEnded)) {
    const answered = await storeWaiting(folder, archiver, surroundings);
    if (answered > 0 || systemClock.monotonic() - reportedMs > reportEveryMs) {
      reportedMs = systemClock.monotonic();
      await report(folder, archiver, surroundings);
    }
    await sleep(systemClock, lookEveryMs);
  }
  return 0;
}

interface Surroundings {
  readonly log: ReturnType<typeof concealingLogger>;
  readonly conceal: (text: string) => string;
  readonly signal: AbortSignal;
}

/** How many requests were answered. */
async function storeWaiting(folder: ArchiveFolder, archiver: LogArchiver, surroundings: Surroundings): Promise<number> {
  const names = folder.requests();
  for (const name of names) {
    const failure = isArchived(name) ? await store(name, folder, archiver, surroundings) : undefined;
    folder.answer(name, failure);
  }
  return names.length;
}

async function store(
  name: string,
  folder: ArchiveFolder,
  archiver: LogArchiver,
  { log, conceal, signal }: Surroundings,
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
async function report(
  folder: ArchiveFolder,
  archiver: LogArchiver,
  { log, conceal, signal }: Surroundings,
): Promise<void> {
  try {
    folder.writeReport(await archiver.report(signal));
  } catch (error) {
    log.warn("Cannot list the archive", { error: conceal(error instanceof Error ? error.message : String(error)) });
  }
}
