/** The configuration of an OCI or Docker image: what it is for, its layers and how it starts. */
import { isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import type { ImageConfig } from "../image.ts";
import { refusal } from "./refusal.ts";

export interface ParsedConfig {
  /** `linux/amd64` */
  readonly platform: string;
  readonly diffIds: readonly string[];
  readonly image: ImageConfig;
}

/** Node's names of processors, where images have other ones. */
const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386", ppc64: "ppc64le" };

/** What this machine runs. */
export function ownPlatform(): string {
  return `linux/${architectures[process.arch] ?? process.arch}`;
}

export function platformOf({ os, architecture }: JsonObject): string {
  return `${typeof os === "string" ? os : "unknown"}/${typeof architecture === "string" ? architecture : "unknown"}`;
}

export function parseConfig(document: unknown): ParsedConfig {
  if (!isJsonObject(document)) throw refusal("configuration: expected an object");
  const { rootfs, config = {} } = document;
  const diffIds = isJsonObject(rootfs) ? rootfs["diff_ids"] : undefined;
  if (!isTexts(diffIds)) throw refusal("configuration.rootfs.diff_ids: expected a list of digests");
  return { platform: platformOf(document), diffIds, image: startOf(isJsonObject(config) ? config : {}) };
}

function startOf({ Env, Entrypoint, Cmd, WorkingDir, User, StopSignal }: JsonObject): ImageConfig {
  // The kernel would cut a text there.
  const isCut = [Env, Entrypoint, Cmd, WorkingDir, User].flat().some((each) => String(each).includes("\0"));
  if (isCut) throw refusal("configuration.config: expected texts without NUL");
  return {
    ...(isTexts(Env) ? { env: environmentOf(Env) } : {}),
    ...(isTexts(Entrypoint) ? { entrypoint: Entrypoint } : {}),
    ...(isTexts(Cmd) ? { command: Cmd } : {}),
    ...(typeof WorkingDir === "string" && WorkingDir !== "" ? { workingDirectory: WorkingDir } : {}),
    ...(typeof User === "string" && User !== "" ? { user: User } : {}),
    ...(typeof StopSignal === "string" && StopSignal !== "" ? { stopSignal: StopSignal } : {}),
  };
}

function environmentOf(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...rest] = line.split("=");
      return [name, rest.join("=")];
    }),
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
