/** A transfer pod's folders in a temporary folder, and an engine whose data carry their own checksum. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { silentLogger } from "@setpoint/host";
import { type EngineAgent, InvalidSnapshotError } from "../engine/agent.ts";
import type { BackupStorage } from "../storage/backup-storage.ts";
import { openStorage } from "../storage/opendal-storage.ts";
import { type AgentRequest, type AgentResult, agentResult, requestVariable } from "./request.ts";
import { type AgentOptions, runAgent } from "./run-agent.ts";

export const impatient = { retries: 0, retryDelayMsMin: 1, callMsMax: 5_000, transferMsMax: 20_000 };

/** `count` bytes that end with the SHA-256 of those before. */
export function sampleData(count: number, fill = 7): Buffer {
  const body = Buffer.alloc(count - 32, fill);
  for (let at = 0; at + 4 <= body.length; at += 4_096) body.writeUInt32BE(at, at);
  return Buffer.concat([body, createHash("sha256").update(body).digest()]);
}

/** An engine that streams `data` in pieces of 32 KiB. */
export function sampleEngine(data: () => Buffer, pieceBytes = 32_768): EngineAgent {
  return {
    async snapshot() {
      const whole = data();
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < whole.length; at += pieceBytes) yield whole.subarray(at, at + pieceBytes);
      }
      return { data: pieces(), facts: Promise.resolve({ engineVersion: "1.2.3", position: "42" }) };
    },
    async verify(stream) {
      const hash = createHash("sha256");
      let tail: Buffer = Buffer.alloc(0);
      let dataBytes = 0;
      for await (const bytes of stream) {
        dataBytes += bytes.length;
        const joined = Buffer.concat([tail, bytes]);
        const end = Math.max(0, joined.length - 32);
        hash.update(joined.subarray(0, end));
        tail = joined.subarray(end);
      }
      if (!hash.digest().equals(tail)) throw new InvalidSnapshotError("The checksum at its end is wrong");
      return { dataBytes };
    },
  };
}

export interface Ran {
  readonly exitCode: number;
  readonly result: AgentResult;
  /** The bytes of the termination log. */
  readonly text: string;
}

interface WayTask {
  readonly folder: string;
  readonly base?: string;
  readonly timeline?: number;
  readonly target?: { readonly kind: "time" | "position" | "name"; readonly value: string };
}

type Task =
  | { task: "backup" | "delete" | "damage"; object: string }
  | { task: "write" | "read"; prefix: string; count: number; pauseMs?: number }
  | ({ task: "verifyWay"; files?: undefined } & WayTask)
  | ({ task: "fetchWay"; files: Record<string, string> } & WayTask)
  | { task: "verify" | "fetch"; object: string; expected?: { sha256: string; encryptionKey?: string } };

export class AgentSetting implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "setpoint-agent-"));
  readonly store = join(this.root, "store");
  readonly paths = {
    storeSecret: join(this.root, "store-secret"),
    storeClaim: this.store,
    encryptionSecret: join(this.root, "keys"),
    sourceSecret: join(this.root, "source-secret"),
    snapshotFolder: join(this.root, "snapshot"),
    replayFolder: join(this.root, "replay"),
  };
  activeKey: string | undefined;
  data = sampleData(200_000);
  partBytes = 8 * 1024 * 1024;
  place: AgentRequest["store"]["place"] = { type: "folder", folder: this.store };
  storage: (() => BackupStorage) | undefined;
  engines: Readonly<Record<string, EngineAgent>> = { sample: sampleEngine(() => this.data) };

  constructor() {
    for (const folder of [this.store, this.paths.storeSecret, this.paths.encryptionSecret]) mkdirSync(folder);
  }

  /** Adds or replaces a key, and encrypts new backups with it. */
  encrypt(name: string, bytes: Buffer = randomBytes(32)): void {
    writeFileSync(join(this.paths.encryptionSecret, name), bytes);
    this.activeKey = name;
  }

  forgetKey(name: string): void {
    rmSync(join(this.paths.encryptionSecret, name));
  }

  async run(task: Task, options: AgentOptions = {}): Promise<Ran> {
    const log = join(this.root, "termination-log");
    const store = {
      place: this.place,
      prefix: "",
      ...(this.activeKey === undefined ? {} : { activeKey: this.activeKey }),
    };
    const request = { engine: "sample", store, source: {}, ...task };
    const { storage } = this;
    const exitCode = await runAgent(this.engines, {
      environment: { [requestVariable]: JSON.stringify(request) },
      paths: this.paths,
      partBytes: this.partBytes,
      terminationLog: log,
      log: silentLogger,
      signal: new AbortController().signal,
      openStorage: ({ place, prefix }, folder) => storage?.() ?? openStorage(place, prefix, folder, impatient),
      ...options,
    });
    const text = readFileSync(log, "utf8");
    return { exitCode, text, result: agentResult.parse(JSON.parse(text)) };
  }

  /** All files of the store with their bytes. */
  files(): readonly string[] {
    const entries = readdirSync(this.store, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.store.length + 1))
      .toSorted();
  }

  bytesOf(path: string): Buffer {
    return readFileSync(join(this.store, path));
  }

  put(path: string, bytes: Uint8Array): void {
    mkdirSync(dirname(join(this.store, path)), { recursive: true });
    writeFileSync(join(this.store, path), bytes);
  }

  remove(path: string): void {
    rmSync(join(this.store, path));
  }

  fetched(): Buffer | undefined {
    const path = join(this.paths.snapshotFolder, "snapshot");
    return existsSync(path) ? readFileSync(path) : undefined;
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true });
  }
}
