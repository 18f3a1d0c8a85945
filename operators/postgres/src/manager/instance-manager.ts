/**
 * Makes this instance what the operator says that it should be: the primary, or a replica of it. It looks at
 * what there is, does the next thing, and looks again; what was half done when the process ended is found and
 * done again. It never accepts writes without the lease.
 */
import {
  canonicalText,
  cleanStopMs,
  type DesiredInstance,
  type InstanceReport,
  type LeaseAnswer,
  type LeaseRequest,
  type Peer,
  type ServerState,
} from "../instance/instance-protocol.ts";
import type { ServerIdentity } from "./configuration-files.ts";
import type { ControlFile } from "./data-directory.ts";
import { FollowedDocument } from "./followed-document.ts";
import type { InstanceManagerParts } from "./manager-parts.ts";
import { answerLease } from "./primary-lease.ts";
import { ServerConfiguration } from "./server-configuration.ts";
import type { ServerFacts } from "./sql.ts";

/** A replica that receives nothing for so long has parted from the primary, or follows a dead connection. */
const strayMsMax = 10_000;
/** A server that ends sooner after its start is not started again at once. */
const shortRunMs = 10_000;
/** What PostgreSQL says when no change follows a target, which a restore has found in the archive before. */
const endedBeforeTarget = /recovery ended before configured recovery target was reached/;
const restartDelayMsMax = 30_000;
/** A rewind that came before the first checkpoint of a new primary found nothing to do. */
const otherHistory = /is not a child of this server's history/;
/** What a replica lacks is gone from the primary too: there is nothing to go back to. */
const lostLog = "the primary does not have the log any more that they lack";

export class InstanceManager {
  readonly #parts: InstanceManagerParts;
  readonly #document: FollowedDocument;
  readonly #configuration: ServerConfiguration;
  #message: string | undefined;
  /** Why the last step failed; it stays while the same is tried again. */
  #failure: string | undefined;
  /** Since when this replica, running, receives nothing. */
  #strayingSinceMs: number | undefined;
  /** How often in a row it was stopped for that, without having received anything in between. */
  #straysInRow = 0;
  #needsRewind = false;
  #isPromoting = false;
  /** Since when the server, without the right to it, is being stopped. */
  #fencedMs: number | undefined;
  #startedMs = Number.NEGATIVE_INFINITY;
  #shortRuns = 0;
  /** The start of the server that is to be restarted; it stays until another one runs. */
  #restarts: string | undefined;
  /** The server is being stopped so that it restarts: a short run is no fault of its. */
  #isStopping = false;
  /** This process created the data, and the application's database is not in them yet. */
  #lacksDatabase = false;
  /** The inner objects were ensured for this term and password. */
  #ensuredFor = "";
  #control: ControlFile | undefined;

  constructor(parts: InstanceManagerParts) {
    this.#parts = parts;
    this.#document = new FollowedDocument(parts.document);
    this.#configuration = new ServerConfiguration(parts);
  }

  get name(): string {
    return this.#parts.name;
  }

  get desired(): DesiredInstance | undefined {
    return this.#document.desired;
  }

  get message(): string | undefined {
    return this.#failure ?? this.#message;
  }

  /** Whether nothing is going on: then it is enough to look now and then. */
  get isSettled(): boolean {
    return this.desired !== undefined && this.message === undefined && this.#parts.server.isAlive;
  }

  /** Takes a new document; one of an older term is refused. */
  async follow(desired: DesiredInstance): Promise<InstanceReport> {
    const { term } = this.#document;
    this.#document.take(desired);
    if (desired.term > term) {
      this.#parts.lease.forget();
      // The next primary has its own time to send the log.
      this.#strayingSinceMs = undefined;
    }
    this.#parts.wakeup.wake();
    return this.report({ holder: desired.primary ?? "", term: desired.term });
  }

  answerLease(request: LeaseRequest): LeaseAnswer {
    return answerLease(request, { term: this.#document.term, primary: this.desired?.primary });
  }

  async report(lease: LeaseRequest | undefined): Promise<InstanceReport> {
    const { name, clock, data } = this.#parts;
    if (lease?.holder === name && this.answerLease(lease).isGranted)
      this.#parts.lease.renewByOperator(clock.monotonic());
    const facts = await this.#facts();
    const control = facts === undefined ? this.#control : undefined;
    return {
      name,
      term: this.#document.term,
      follows: this.#document.hash,
      data: data.exists ? "present" : "none",
      systemId: facts?.systemId ?? control?.systemId,
      version: facts?.version,
      server: this.#serverState(facts),
      isPrimary: facts?.isPrimary,
      timeline: facts?.timeline ?? control?.timeline,
      position: facts?.position ?? control?.position,
      replayed: facts?.replayed,
      isStreaming: facts?.isStreaming,
      startedAt: facts?.startedAt,
      isRestarting: this.#restarts !== undefined,
      hasReadSettings: this.#configuration.hasRead(this.desired?.settings),
      pendingRestart: facts?.pendingRestart,
      limits: facts?.limits,
      settingErrors: this.#parts.settings.errors,
      upgrade: this.#parts.upgrade.report,
      safetyCopy: this.#parts.upgrade.safetyCopy,
      isAnalyzing: this.#parts.upgrade.isAnalyzing,
      archive: this.desired?.settings.isArchived === true ? this.#parts.archive.readReport() : undefined,
      message: this.message,
    };
  }

  /** Restarts the server that started at this moment; another one has read its settings since. */
  async restart(startedAt: string): Promise<void> {
    const facts = await this.#facts();
    if (facts?.startedAt !== startedAt) return;
    this.#restarts = startedAt;
    this.#parts.wakeup.wake();
  }

  async isReady(): Promise<boolean> {
    const facts = await this.#facts();
    if (facts === undefined || this.#parts.server.isStopping || this.#lacksDatabase) return false;
    return facts.isPrimary ? this.#isInOffice() : true;
  }

  /** Whether its server accepts writes, and may. */
  async isPrimary(): Promise<boolean> {
    return (await this.#facts())?.isPrimary === true && this.#isInOffice();
  }

  #isInOffice(): boolean {
    return this.desired?.primary === this.#parts.name && this.#holdsLease();
  }

  /** A primary without the lease stops at once, whatever else is going on; so does one on its way to it. */
  fence(): void {
    const { server, data, clock } = this.#parts;
    if (!server.isAlive || (data.isStandby && !this.#isPromoting)) return;
    const isMine = this.desired?.primary === this.#parts.name;
    if (isMine && this.#holdsLease()) return;
    // Another primary was named: what is committed here should reach the replicas before.
    const isDeposed = !isMine && this.desired !== undefined;
    this.#message = isDeposed
      ? "stopped: another instance becomes the primary"
      : "stopped: neither the operator nor a majority of the instances confirms that this is the primary";
    const nowMs = clock.monotonic();
    if (this.#fencedMs === undefined) this.#parts.complain(`The instance manager: ${this.#message}`);
    this.#fencedMs ??= nowMs;
    // Replicas that do not take the rest of the log hold up a fast stop.
    const isLate = nowMs - this.#fencedMs >= cleanStopMs;
    server.requestStop(isDeposed && !isLate ? "fast" : "immediate");
  }

  /** The next thing to do. Rejects with what could not be done. */
  async step(signal: AbortSignal): Promise<void> {
    const desired = this.desired;
    if (desired === undefined) this.#message = "waiting for the operator";
    else if (desired.fenced?.includes(this.#parts.name) === true) await this.#stayStopped();
    else if (await this.#upgrade(desired, signal)) this.#control = undefined;
    else if (desired.primary === this.#parts.name) await this.#bePrimary(desired, signal);
    else await this.#beReplica(desired, signal);
    if (!this.#parts.server.isAlive && this.#parts.data.exists)
      this.#control ??= await this.#parts.data.control(signal);
    this.#failure = undefined;
  }

  /** Called when the server process has ended. */
  serverEnded(): void {
    this.#control = undefined;
    this.#fencedMs = undefined;
    this.#parts.sql.forget();
    const isShort = this.#parts.clock.monotonic() - this.#startedMs < shortRunMs;
    this.#shortRuns = isShort && !this.#isStopping ? this.#shortRuns + 1 : 0;
    this.#isStopping = false;
    this.#parts.wakeup.wake();
  }

  /** The end of this process: sessions end, and replicas receive what was committed. */
  async shutDown(): Promise<void> {
    await this.#parts.server.stop("fast");
    this.#parts.archive.serverEnds(true);
  }

  /** Ends early when there is something to do. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.#parts.wakeup.sleep(ms, signal);
  }

  /** A peer granted what was asked at `askedMs`. */
  grantedByPeer(peer: string, askedMs: number): void {
    this.#parts.lease.renewByPeer(peer, askedMs);
  }

  fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#failure) this.#parts.complain(`The instance manager: ${message}`);
    this.#failure = message;
  }

  async #bePrimary(desired: DesiredInstance, signal: AbortSignal): Promise<void> {
    const { data, server, sql } = this.#parts;
    if (!data.exists) {
      if (!desired.isFirstStart)
        throw new Error("The volume of the primary has no data: restore a backup, or name another instance");
      await this.#createData(desired, signal);
      this.#lacksDatabase = true;
    }
    if (!this.#holdsLease()) {
      this.#message = "waiting for the operator or a majority of the instances to confirm the primary";
      return;
    }
    if (!server.isAlive) return this.#start(desired, { name: this.name }, signal);
    const facts = await sql.facts();
    if (facts === undefined || (await this.#restartServer(facts))) return;
    if (!facts.isPrimary) {
      if (data.isRecovering) this.#message = "replaying the log of the archive";
      else if (!desired.mayPromote) this.#message = "waiting until the former primary has stopped";
      else await this.#promote();
      return;
    }
    this.#message = undefined;
    data.forgetArchived();
    this.#parts.upgrade.analyze(signal);
    await this.#configuration.keep(desired.settings, facts, { name: this.name }, signal);
    await this.#ensureInnerObjects(desired);
  }

  async #createData({ import: wanted, baseBackup, settings }: DesiredInstance, signal: AbortSignal): Promise<void> {
    const { data, dataImport, baseCopy } = this.#parts;
    const say = (message: string): void => void (this.#message = message);
    say("creating the data");
    if (baseBackup !== undefined) return data.build((folder) => baseCopy.run(baseBackup, { folder, say, signal }));
    await data.create(signal, async (folder) => {
      if (wanted === undefined) return;
      await dataImport.run(wanted, { folder, database: settings.database, say, signal });
      say("creating the data");
    });
  }

  /** Whether the server is the one that was to be restarted. */
  async #restartServer({ startedAt, isPrimary }: ServerFacts): Promise<boolean> {
    const isAsked = this.#restarts === startedAt;
    if (!isAsked) this.#restarts = undefined;
    if (!isAsked) return false;
    this.#message = "restarting the server for settings that wait for it";
    await this.#stopServer(isPrimary);
    return true;
  }

  /** The next server that runs is another one, as after a restart. */
  async #stayStopped(): Promise<void> {
    this.#message = "fenced: its server stays stopped until it is removed from spec.fencing.members";
    this.#restarts = "fenced";
    if (this.#parts.server.isAlive) await this.#stopServer((await this.#facts())?.isPrimary === true);
  }

  /** Whether the change of the major version keeps the server stopped. */
  async #upgrade(desired: DesiredInstance, signal: AbortSignal): Promise<boolean> {
    const { upgrade, server } = this.#parts;
    upgrade.check(desired, signal);
    upgrade.tidy(desired);
    const asked = upgrade.asked(desired);
    if (asked?.step === "stop" || asked?.step === "run") {
      this.#message = `stopped: its data become those of PostgreSQL ${asked.to}`;
      if (server.isAlive) await this.#stopServer((await this.#facts())?.isPrimary === true);
      if (asked.step === "run") await upgrade.run(asked, () => this.desired, signal);
      return true;
    }
    const state = server.isAlive ? "ready" : await upgrade.settle(desired, signal);
    if (state === "foreign")
      throw new Error(`The data and the programs are not both of PostgreSQL ${desired.dataVersion}`);
    const primary = desired.peers.find((peer) => peer.name === desired.primary);
    if (state === "copy" && primary !== undefined) await this.#copyInstead(primary, "another major version", signal);
    return state === "copy";
  }

  async #stopServer(isPrimary: boolean): Promise<void> {
    // A stop writes what is left, and clients wait for it.
    if (isPrimary) await this.#parts.sql.run("checkpoint");
    this.#isStopping = true;
    await this.#parts.server.stop("fast");
  }

  /** Others can be rewound only when the new timeline is in the control file, which a checkpoint writes. */
  async #promote(): Promise<void> {
    this.#message = "promoting";
    if (this.desired?.settings.isArchived === true) this.#parts.data.archiveAgain();
    this.#isPromoting = true;
    try {
      await this.#parts.sql.run("select pg_promote(true, 60)");
    } finally {
      this.#isPromoting = false;
    }
    this.#parts.sql.forget();
    await this.#parts.sql.run("checkpoint");
    this.#message = undefined;
  }

  async #ensureInnerObjects({ term, settings }: DesiredInstance): Promise<void> {
    const { innerObjects } = this.#parts;
    const wanted = `${term} ${canonicalText(settings.database)} ${innerObjects.readPassword()}`;
    if (wanted === this.#ensuredFor) return;
    await innerObjects.ensure(settings.database);
    this.#ensuredFor = wanted;
    this.#lacksDatabase = false;
  }

  async #beReplica(desired: DesiredInstance, signal: AbortSignal): Promise<void> {
    const { data, server, sql, name } = this.#parts;
    // The fence stops it; what it was comes to light when it has ended.
    if (server.isAlive && !data.isStandby) return;
    const primary = desired.peers.find((peer) => peer.name === desired.primary);
    if (primary === undefined) {
      this.#message = "waiting for a new primary";
      return;
    }
    if (!data.exists) {
      this.#message = `copying the data of ${primary.name}`;
      return data.clone(primary.host, name, signal);
    }
    const identity = { name, follows: primary.host };
    if (!server.isAlive) {
      const hasParted = otherHistory.test(server.lastFatal ?? "");
      if (!data.isStandby || this.#needsRewind || hasParted) await this.#rejoin(desired, primary, signal);
      return this.#start(desired, identity, signal);
    }
    const facts = await sql.facts();
    if (facts === undefined) return this.#configuration.follow(identity);
    if (await this.#restartServer(facts)) return;
    await this.#configuration.keep(desired.settings, facts, identity, signal);
    await this.#watchStream(facts, primary, signal);
  }

  /** Takes back what this instance wrote and the primary does not have, or starts from a copy. */
  async #rejoin(desired: DesiredInstance, primary: Peer, signal: AbortSignal): Promise<void> {
    const { data, name } = this.#parts;
    this.#message = `going back to where the data of ${primary.name} part from these`;
    data.forgetRecovery();
    // Rewinding starts a server on the data, which reads the configuration.
    await this.#configuration.prepare(desired.settings, { name, follows: primary.host }, signal);
    const problem = this.#straysInRow > 1 ? lostLog : await data.rewind(primary.host, name, signal);
    if (problem !== undefined && !isOutOfReach(problem)) await this.#copyInstead(primary, problem, signal);
    // A replica that runs can be promoted; one that waits for a primary that is gone cannot.
    else if (problem !== undefined && !data.isStandby) throw new Error(problem);
    this.#needsRewind = false;
  }

  async #copyInstead(primary: Peer, why: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#message = `copying the data of ${primary.name}, because these cannot go back: ${why}`;
    await this.#parts.data.clone(primary.host, this.name, signal);
  }

  async #watchStream({ isStreaming }: ServerFacts, primary: Peer, signal: AbortSignal): Promise<void> {
    const { clock, data, server } = this.#parts;
    const nowMs = clock.monotonic();
    if (isStreaming) {
      this.#strayingSinceMs = undefined;
      this.#straysInRow = 0;
      this.#message = undefined;
      return;
    }
    this.#strayingSinceMs ??= nowMs;
    this.#message = `waiting for the log of ${primary.name}`;
    if (nowMs - this.#strayingSinceMs < strayMsMax) return;
    this.#strayingSinceMs = undefined;
    // A primary that is gone is no reason to stop: this replica may have to take its place.
    if (!(await data.isReachable(primary.host, signal))) return;
    this.#straysInRow++;
    this.#needsRewind = true;
    await server.stop("fast");
  }

  async #start(desired: DesiredInstance, identity: ServerIdentity, signal: AbortSignal): Promise<void> {
    const { data, server, clock, settings } = this.#parts;
    if (this.#shortRuns > 0 && settings.blame(desired.settings, server.lastFatal)) this.#shortRuns = 0;
    const delayMs = this.#shortRuns < 2 ? 0 : Math.min(restartDelayMsMax, 500 * 2 ** this.#shortRuns);
    if (clock.monotonic() - this.#startedMs < delayMs) {
      const why = server.lastFatal ?? "its log says why";
      this.#message = `the server ended ${this.#shortRuns} times soon after its start: ${why}`;
      return;
    }
    if (!data.isRecovering) data.forgetRecovery();
    else if (endedBeforeTarget.test(server.lastFatal ?? "")) data.replayToEnd();
    const isAccepted = await this.#configuration.prepare(desired.settings, identity, signal);
    this.#message = isAccepted
      ? undefined
      : `waiting for settings that PostgreSQL accepts: ${settings.errors.join("; ")}`;
    // The settings may have taken their time.
    if (!isAccepted || this.desired !== desired || (identity.follows === undefined && !this.#holdsLease())) return;
    this.#startedMs = clock.monotonic();
    server.start();
  }

  #holdsLease(): boolean {
    const { clock, lease } = this.#parts;
    return lease.isHeld(clock.monotonic(), this.desired?.peers.map(({ name }) => name) ?? []);
  }

  async #facts(): Promise<ServerFacts | undefined> {
    return this.#parts.server.isAlive ? this.#parts.sql.facts() : undefined;
  }

  #serverState(facts: ServerFacts | undefined): ServerState {
    const { server } = this.#parts;
    if (!server.isAlive) return "stopped";
    if (server.isStopping) return "stopping";
    return facts === undefined ? "starting" : "running";
  }
}

/** The primary could not be asked; nothing is known of the data. */
function isOutOfReach(problem: string): boolean {
  return /could not connect|connection to server|timeout expired|could not translate|Connection refused/i.test(problem);
}
