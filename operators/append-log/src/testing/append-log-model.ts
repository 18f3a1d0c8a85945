/** The programs of the operator's image in a simulated world: the real server, with its store in memory. */
import { neededSegments, type RestoreTarget, wayTo } from "@setpoint/data-service";
import { type ArchiveReport, archiveReport, TransferError } from "@setpoint/data-service/agent";
import {
  type BackupVault,
  type Launch,
  type Program,
  type ProgramModel,
  simulatedOperatorImage,
  type SimulatedVolume,
  type SimulatedWay,
  TransferFailure,
  TransferModel,
  type WayFinder,
} from "setpoint/testing";
import { snapshotFacts } from "../append-log-agent.ts";
import { serverPort } from "../resources.ts";
import { appendLogSegments, type LogData, noData, parseLogData } from "../server/log-data.ts";
import { LogServer, type MemberReport, type SegmentArchiver } from "../server/log-server.ts";
import { replayed } from "../server/replay.ts";

const { signal } = new AbortController();
const file = "data";
const claimFolder = "/run/setpoint/data";
const snapshotFolder = "/run/setpoint/snapshot";
const killedCode = 137;
const compare = (a: string, b: string): number => appendLogSegments.compare(a, b);

/** Serves logs, archives and restores them, and carries out transfers. */
export class AppendLogModel implements ProgramModel {
  readonly transfers: TransferModel = new TransferModel(
    { "append-log": (source) => this.#snapshot(source) },
    {},
    { "append-log": (request, vault) => this.#wayTo(request, vault) },
  );
  /** What the store has of each instance, by the path of its backups, then by the name of the file. */
  readonly archives: Map<string, Map<string, Uint8Array>> = new Map();
  /** Servers by address, and the names of their pods. */
  readonly #serving = new Map<string, { readonly server: LogServer; readonly pod: string }>();

  get violations(): readonly string[] {
    return this.transfers.violations;
  }

  runs(image: string): boolean {
    return image === simulatedOperatorImage;
  }

  start(launch: Launch): Program {
    if (launch.command[0] === "serve") return this.#serve(launch);
    return launch.command[1] === "restore" ? restore(launch) : this.transfers.start(launch);
  }

  /** As a client: to the primary of the instance. */
  append(log: string, ...texts: readonly string[]): void {
    for (const text of texts) this.#primary(log).append(text, text.startsWith("mark ") ? text.slice(5) : undefined);
  }

  entries(log: string): readonly string[] {
    return this.#primary(log).data.entries.map(({ text }) => text);
  }

  /** What clients of the same instances read, at the end of a story. */
  data(): Readonly<Record<string, unknown>> {
    const primaries = [...this.#serving.values()].filter(({ server }) => server.report().role === "primary");
    const entries = primaries.map(
      ({ server, pod }) => [pod.replace(/-\d$/, ""), server.data.entries.map(({ text }) => text)] as const,
    );
    return Object.fromEntries(entries);
  }

  /** A server works when it is asked, so that a world without an operator comes to rest. */
  async report(address: string): Promise<MemberReport> {
    const server = this.serverAt(address);
    await server.work(signal).catch(() => {});
    return server.report();
  }

  serverAt(address: string): LogServer {
    const found = this.#serving.get(address);
    if (found === undefined) throw new Error(`no server answers at ${address}`);
    return found.server;
  }

  #primary(log: string): LogServer {
    const members = [...this.#serving.values()].filter(({ pod }) => pod.replace(/-\d$/, "") === log);
    const primaries = members.filter(({ server }) => server.report().role === "primary");
    const newest = primaries.toSorted((a, b) => b.server.data.timeline - a.server.data.timeline)[0];
    if (newest === undefined) throw new Error(`${log} has no primary`);
    return newest.server;
  }

  #snapshot(source: unknown) {
    const { data } = this.serverAt((source as { readonly url: string }).url);
    return { data: JSON.stringify(data), ...snapshotFacts(data) };
  }

  #serve(launch: Launch): Program {
    const address = `http://${launch.podIp}:${serverPort}`;
    const [volume] = [...launch.volumes].flatMap(([path, each]) => (path === "/data" ? [each] : []));
    const server = new LogServer({
      load: () => dataOn(volume),
      save: (data) => void volume?.files.set(file, JSON.stringify(data)),
      copy: async (other) => this.serverAt(other).data,
      archiver: this.#archiver(launch),
      clock: launch.host.clock,
    });
    this.#serving.set(address, { server, pod: launch.podName });
    launch.ready(true);
    const end = (code: number): void => {
      if (this.#serving.get(address)?.server !== server) return;
      this.#serving.delete(address);
      launch.exited(code);
    };
    return { terminate: () => end(0), kill: () => end(killedCode) };
  }

  #archiver({ environment }: Launch): SegmentArchiver | undefined {
    const text = environment["SETPOINT_LOG_ARCHIVE"];
    if (text === undefined) return undefined;
    const { folder } = JSON.parse(text) as { readonly folder: string };
    return {
      archive: async (name, bytes) => this.#archive(folder, name, bytes),
      list: async () => this.#listed(folder),
      report: async (): Promise<ArchiveReport> =>
        archiveReport({ ...this.#listed(folder), bases: basesIn(this.transfers.vault, folder) }, compare),
    };
  }

  #archive(folder: string, name: string, bytes: Uint8Array): void {
    const files = this.archives.get(folder) ?? new Map<string, Uint8Array>();
    this.archives.set(folder, files);
    const present = files.get(name);
    if (present !== undefined && !Buffer.from(present).equals(bytes))
      throw new TransferError("BackupDamaged", `the store has other bytes under the name ${name}`);
    files.set(name, bytes);
  }

  #listed(folder: string) {
    const files = [...(this.archives.get(folder) ?? [])].map(([name, bytes]) => {
      const facts = appendLogSegments.fork?.(name, bytes) ?? appendLogSegments.read(name, bytes);
      return { ...facts, name, sha256: "" };
    });
    return {
      segments: files.flatMap((each) => ("parent" in each ? [] : [each])),
      forks: files.flatMap((each) => ("parent" in each ? [each] : [])),
    };
  }

  #wayTo({ folder, base, target, timeline }: Parameters<WayFinder>[0], vault: BackupVault): SimulatedWay {
    const bases = basesIn(vault, folder).filter(({ name }) => base === undefined || name === base);
    const found = wayTo(target as RestoreTarget | undefined, { ...this.#listed(folder), bases }, compare, timeline);
    if ("refusal" in found) throw new TransferFailure("TargetUnreachable", found.refusal, false);
    const needed = neededSegments(found, target as RestoreTarget | undefined, compare).map(({ name }) => name);
    const files = [...(this.archives.get(folder) ?? [])].filter(
      ([name]) => name.endsWith(".fork") || needed.includes(name),
    );
    const way = { object: found.base.name, timeline: found.timeline, segments: needed.length, end: found.end };
    return {
      way: { ...way, from: new Date(found.fromMs).toISOString(), to: new Date(found.toMs).toISOString() },
      files: new Map(files.map(([name, bytes]) => [`log/${name}`, bytes])),
    };
  }
}

function basesIn(vault: BackupVault, folder: string) {
  return [...vault.objects].flatMap(([name, { manifest }]) => {
    const log = manifest["log"] as { timeline: number; start: string; endedAtMs: number } | undefined;
    if (!name.startsWith(`${folder}/`) || log === undefined) return [];
    return [{ name, timeline: log.timeline, start: log.start, position: manifest.position, takenAtMs: log.endedAtMs }];
  });
}

function dataOn(volume: SimulatedVolume | undefined): LogData {
  const text = volume?.files.get(file);
  return typeof text === "string" ? parseLogData(text) : noData;
}

/** As the engine's own tool. */
function restore(launch: Launch): Program {
  const { command, volumes } = launch;
  const snapshot = volumes.get(snapshotFolder)?.files.get("snapshot");
  const claim = volumes.get(claimFolder);
  const replay = command[5];
  if (typeof snapshot !== "string" || claim === undefined) launch.exited(1, "no snapshot, or no claim to write it to");
  else {
    const backup = parseLogData(snapshot);
    const restored = replay === undefined ? backup : replayed(backup, logIn(claim), JSON.parse(replay));
    claim.files.clear();
    claim.files.set(file, JSON.stringify(restored));
    launch.exited(0);
  }
  return { terminate: () => {}, kill: () => {} };
}

function logIn({ files }: SimulatedVolume): ReadonlyMap<string, Uint8Array> {
  const prefix = "replay/log/";
  const found = [...files].filter(([name]) => name.startsWith(prefix));
  return new Map(found.map(([name, bytes]) => [name.slice(prefix.length), bytes as Uint8Array]));
}
