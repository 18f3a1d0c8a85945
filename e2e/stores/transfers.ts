/** Runs the transfer program against a store, with data of any size in place of an engine's. */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentOptions,
  type AgentResult,
  agentResult,
  type EngineAgent,
  InvalidSnapshotError,
  openStorage,
  requestVariable,
  runAgent,
  type StoragePatience,
  type StorePlace,
} from "@setpoint/data-service/agent";
import { systemLogger } from "@setpoint/host/system";

export const mebibyte = 1 << 20;
/** For a server that is known not to answer; on a loaded machine one that does may need longer. */
export const impatient: StoragePatience = { retries: 1, retryDelayMsMin: 10, callMsMax: 2_000, transferMsMax: 4_000 };
/** What the transfers store below the prefix `kept`. */
export const object = "endless/default/orders/first";

/** One transfer. */
export interface Order {
  readonly task: string;
  readonly mebibytes?: number;
  /** Runs in the middle of the data. */
  readonly midway?: () => void;
  readonly activeKey?: string;
  readonly place?: Partial<StorePlace>;
  readonly patience?: StoragePatience;
  readonly options?: AgentOptions;
}

/** Transfers of one test file. */
export class Transfers implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "setpoint-transfers-"));
  /** What the program has logged. */
  lines: string[] = [];
  readonly #place: StorePlace;
  readonly #secrets: readonly string[];

  /** No result and no line of the log may contain one of `secrets`. */
  constructor(place: StorePlace, secrets: readonly string[]) {
    this.#place = place;
    this.#secrets = secrets;
    for (const name of ["store", "keys"]) mkdirSync(join(this.folder, name));
    writeFileSync(join(this.folder, "keys/2026"), randomBytes(32));
  }

  /** The files of the store's Secret. */
  useCredentials(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, "store", name), `${text}\n`);
  }

  async run({ task, mebibytes = 4, midway, activeKey, place, patience, options }: Order): Promise<AgentResult> {
    const store = {
      place: { ...this.#place, ...place },
      prefix: "kept",
      ...(activeKey === undefined ? {} : { activeKey }),
    };
    const path = (name: string): string => join(this.folder, name);
    await runAgent(
      { endless: endless(mebibytes, midway) },
      {
        environment: { [requestVariable]: JSON.stringify({ task, engine: "endless", store, object, source: {} }) },
        paths: {
          storeSecret: path("store"),
          storeClaim: path("claim"),
          encryptionSecret: path("keys"),
          sourceSecret: path("source"),
          snapshotFolder: path("snapshot"),
          replayFolder: path("replay"),
        },
        terminationLog: path("result"),
        log: systemLogger({ write: (line) => void this.lines.push(line), level: "debug" }),
        signal: new AbortController().signal,
        openStorage: (request, secrets) => openStorage(request.place, request.prefix, secrets, patience),
        ...options,
      },
    );
    const text = readFileSync(path("result"), "utf8");
    this.#expectNoSecret(text);
    return agentResult.parse(JSON.parse(text));
  }

  /**
   * Tries again as the controller does. A part that the server held back while it was stopped may arrive only
   * now; the attempt that finds it does not count it as a backup, deletes it and reports that it may be
   * repeated.
   */
  async backupInAttempts(attempts = 3): Promise<AgentResult> {
    for (let attempt = 1; ; attempt++) {
      const result = await this.run({ task: "backup", mebibytes: 4 });
      if (result.outcome === "done" || attempt === attempts) return result;
      if (!result.retry) throw new Error(`The backup may not be repeated: ${result.message}`);
    }
  }

  /** The SHA-256 of the file that a task `fetch` has written. */
  fetched(): string {
    return createHash("sha256")
      .update(readFileSync(join(this.folder, "snapshot/snapshot")))
      .digest("hex");
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }

  #expectNoSecret(result: string): void {
    const shown = this.#secrets.find((secret) => (result + this.lines.join("")).includes(secret));
    if (shown !== undefined) throw new Error(`A result or a log contains the secret ${shown}`);
  }
}

function endless(mebibytes: number, midway: () => void = () => {}): EngineAgent {
  return {
    async snapshot() {
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let index = 0; index < mebibytes; index++) {
          if (index === mebibytes >> 1) midway();
          yield Buffer.alloc(mebibyte, index % 251);
        }
      }
      return { data: pieces(), facts: Promise.resolve({ engineVersion: "1", position: "7" }) };
    },
    async verify(data) {
      let dataBytes = 0;
      for await (const piece of data) dataBytes += piece.length;
      if (dataBytes % mebibyte !== 0) throw new InvalidSnapshotError("it is cut off");
      return { dataBytes };
    },
  };
}

/** The SHA-256 of the data. */
export function wholeData(mebibytes: number): string {
  const hash = createHash("sha256");
  for (let index = 0; index < mebibytes; index++) hash.update(Buffer.alloc(mebibyte, index % 251));
  return hash.digest("hex");
}
