/**
 * What an agent must know of a container that an agent before it started, on disk beside the container's
 * bundle.
 */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ContainerSpec } from "./container-runtime.ts";
import { readJson, writeJson } from "../host/json-file.ts";
import type { ProcessIdentity } from "../host/process-identity.ts";

export interface ContainerRecord {
  readonly spec: ContainerSpec;
  /** Text files of the container by target: where they lie on the host. */
  readonly files: Readonly<Record<string, string>>;
  readonly main: ProcessIdentity;
  /** The process that watches it and writes down how it ends. */
  readonly monitor: ProcessIdentity | undefined;
  readonly startedAtMs: number;
  /** False until the program was started: a container whose agent was killed before that has done nothing. */
  readonly isStarted: boolean;
}

/** `<pod uid>/<container>/<attempt>` */
export interface ContainerId {
  readonly podUid: string;
  readonly container: string;
  readonly attempt: number;
}

export function parseContainerId(id: string): ContainerId {
  const [podUid = "", container = "", attempt = "0"] = id.split("/");
  return { podUid, container, attempt: Number(attempt) };
}

/** A name without slashes, for tools that make files of it. */
export function toolName({ podUid, container, attempt }: ContainerId): string {
  return `${podUid}_${container}_${attempt}`;
}

export function bundleFolder(directory: string, { podUid, container, attempt }: ContainerId): string {
  return join(directory, podUid, container, String(attempt));
}

export function writeRecord(bundle: string, record: ContainerRecord): void {
  writeJson(join(bundle, "container.json"), record);
}

export function readRecord(bundle: string): ContainerRecord | undefined {
  return readJson(join(bundle, "container.json")) as ContainerRecord | undefined;
}

/** The attempts that have a bundle, newest first. */
export function attemptsOf(directory: string, podUid: string, container: string): readonly number[] {
  const folder = join(directory, podUid, container);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => b - a);
}

export function containersOf(directory: string, podUid: string): readonly string[] {
  const folder = join(directory, podUid);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => statSync(join(folder, name)).isDirectory());
}

/** Bundles of attempts before this one are of no use any more. */
export function dropOldBundles(directory: string, id: ContainerId): void {
  for (const attempt of attemptsOf(directory, id.podUid, id.container))
    if (attempt < id.attempt) rmSync(bundleFolder(directory, { ...id, attempt }), { recursive: true, force: true });
}
