/** The program in a transfer pod: one request from its environment, one result into its termination log. */
import { existsSync } from "node:fs";
import type { Clock, Logger } from "@setpoint/host";
import { systemClock, systemLogger } from "@setpoint/host/system";
import { z } from "zod";
import type { EngineAgent } from "../engine/agent.ts";
import { cancelledError, isTransferError, TransferError } from "../engine/transfer-error.ts";
import { readEncryptionKey } from "../format/encryption-key.ts";
import { partBytesMax } from "../format/parts.ts";
import { type BackupStorage, checkPath } from "../storage/backup-storage.ts";
import { openStorage } from "../storage/opendal-storage.ts";
import { takeBackup } from "./backup-task.ts";
import { concealingLogger, folderConcealment } from "./concealment.ts";
import { deleteBackup } from "./delete-task.ts";
import { fetchBackup, verifyBackup } from "./read-task.ts";
import { damageBackup } from "./damage-task.ts";
import { probe } from "./probe-task.ts";
import {
  agentPaths,
  type AgentRequest,
  agentRequest,
  type AgentResult,
  type ProbeRequest,
  probeRequest,
  requestVariable,
} from "./request.ts";
import { failureOf, writeResult } from "./result-file.ts";
import type { Transfer } from "./transfer.ts";
import { fetchWay, verifyWay } from "./way-task.ts";

/** What tests replace. */
export interface AgentOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly paths?: { readonly [name in keyof typeof agentPaths]: string };
  readonly terminationLog?: string;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Aborts the transfer; the default aborts on SIGTERM and SIGINT. */
  readonly signal?: AbortSignal;
  readonly partBytes?: number;
  readonly openStorage?: (request: AgentRequest["store"], credentialsFolder: string) => BackupStorage;
}

type Settings = Required<AgentOptions>;

const anyRequest = z.discriminatedUnion("task", [agentRequest, probeRequest]);

/**
 * Carries out the request in the environment, for one of `engines` by name.
 *
 * Guarantees: a result is in the termination log; it says "done" only for what has been verified. Resolves
 * with the exit code: 0 for done, 1 otherwise. Neither result nor log contain a value of the mounted Secrets.
 */
export async function runAgent(
  engines: Readonly<Record<string, EngineAgent>>,
  options: AgentOptions = {},
): Promise<number> {
  const settings = withDefaults(options);
  const { paths, terminationLog } = settings;
  const conceal = folderConcealment([paths.storeSecret, paths.encryptionSecret, paths.sourceSecret]);
  const log = concealingLogger(settings.log, conceal);
  const result = await carryOut(engines, { ...settings, log });
  try {
    writeResult(terminationLog, result, conceal);
  } catch (error) {
    log.error("Could not write the result", { path: terminationLog, error });
    return 1;
  }
  return result.outcome === "done" ? 0 : 1;
}

function withDefaults(options: AgentOptions): Settings {
  return {
    environment: process.env,
    paths: agentPaths,
    terminationLog: "/dev/termination-log",
    clock: systemClock,
    log: systemLogger(),
    partBytes: partBytesMax,
    openStorage: ({ place, prefix }, folder) => openStorage(place, prefix, folder),
    ...options,
    signal: options.signal ?? terminationSignal(),
  };
}

function terminationSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

async function carryOut(engines: Readonly<Record<string, EngineAgent>>, settings: Settings): Promise<AgentResult> {
  const { log, signal } = settings;
  try {
    const request = parseRequest(settings.environment[requestVariable]);
    if (isProbe(request)) return await carryOutProbe(request, settings, engineNamed(engines, request.engine));
    const { task, store } = request;
    log.info("Started transfer", { task, object: objectOf(request), store: store.place.type });
    const result = await perform(request, settings, engineNamed(engines, request.engine));
    log.info("Finished transfer", { task, object: objectOf(request) });
    return result;
  } catch (error) {
    const reported = signal.aborted && !isTransferError(error, "Cancelled") ? cancelledError() : error;
    log.error("Transfer failed", { error: reported });
    return failureOf(reported);
  }
}

function isProbe(request: AgentRequest | ProbeRequest): request is ProbeRequest {
  return request.task === "write" || request.task === "read";
}

async function carryOutProbe(request: ProbeRequest, settings: Settings, engine: EngineAgent): Promise<AgentResult> {
  const { paths, signal, clock, log } = settings;
  const { task, source, prefix, count } = request;
  log.info("Started probe", { task, prefix, count });
  const outcome = await probe(request, engine, { source, secretFolder: secretFolderOf(paths), signal }, clock);
  log.info("Finished probe", { task, ...outcome });
  return { outcome: "done", probe: outcome };
}

function secretFolderOf({ sourceSecret }: Settings["paths"]): string | undefined {
  return existsSync(sourceSecret) ? sourceSecret : undefined;
}

async function perform(request: AgentRequest, settings: Settings, engine: EngineAgent): Promise<AgentResult> {
  const transfer = transferOf(request, settings, engine);
  switch (request.task) {
    case "backup":
      return { outcome: "done", backup: await takeBackup(transfer) };
    case "verify":
      return { outcome: "done", backup: await verifyBackup(transfer, request.expected) };
    case "fetch":
      return {
        outcome: "done",
        backup: await fetchBackup(transfer, request.expected, settings.paths.snapshotFolder),
      };
    case "verifyWay":
      return { outcome: "done", ...(await verifyWay(transfer, request)) };
    case "fetchWay":
      return { outcome: "done", ...(await fetchWay(transfer, request, settings.paths)) };
    case "delete":
      await deleteBackup(transfer);
      return { outcome: "done" };
    case "damage":
      await damageBackup(transfer);
      return { outcome: "done" };
  }
}

/** What a request is about: a backup, or all that the store has of an instance. */
function objectOf(request: AgentRequest): string {
  return request.task === "verifyWay" || request.task === "fetchWay" ? request.folder : request.object;
}

function transferOf(request: AgentRequest, settings: Settings, engine: EngineAgent): Transfer {
  const { paths, signal, clock, log, partBytes } = settings;
  const object = objectOf(request);
  checkPath(object);
  const secretFolder = secretFolderOf(paths);
  return {
    engineName: request.engine,
    engine,
    storage: settings.openStorage(request.store, paths.storeSecret),
    object,
    activeKey: request.store.activeKey,
    partBytes,
    keyNamed: (name) => readEncryptionKey(paths.encryptionSecret, name),
    environment: { source: request.task === "backup" ? request.source : undefined, secretFolder, signal },
    signal,
    clock,
    log,
  };
}

function parseRequest(text: string | undefined): AgentRequest | ProbeRequest {
  if (text === undefined) throw invalidRequest(`the variable ${requestVariable} is not set`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalidRequest("it is not JSON");
  }
  const parsed = anyRequest.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidRequest(`"${issue?.path.join(".") ?? ""}": ${issue?.message ?? "malformed"}`);
}

function invalidRequest(why: string): TransferError {
  return new TransferError(
    "RequestInvalid",
    `Cannot read the request of the transfer: ${why}. The operator and the image of its transfer pods must be of one version.`,
  );
}

function engineNamed(engines: Readonly<Record<string, EngineAgent>>, name: string): EngineAgent {
  const engine = Object.hasOwn(engines, name) ? engines[name] : undefined;
  if (engine !== undefined) return engine;
  throw invalidRequest(`the engine "${name}" is not one of ${Object.keys(engines).join(", ")}`);
}
