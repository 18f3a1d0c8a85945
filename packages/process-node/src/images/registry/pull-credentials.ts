/** The logins of pull secrets, and which of them are meant for a repository. */
import { isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import { createHash } from "node:crypto";
import { parseImageReference } from "../image-reference.ts";

/** A login; never part of a message. */
export interface RegistryCredential {
  readonly username: string;
  readonly password: string;
}

/** Data of a Secret of type `kubernetes.io/dockerconfigjson` or `kubernetes.io/dockercfg`. */
export interface PullSecret {
  readonly data: Readonly<Record<string, string>>;
}

/** Other names of Docker Hub in such files. */
const dockerHub = new Set(["index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"]);

/** The logins for the repository of an image; those that name more of its path go first. */
export function credentialsFor(image: string, secrets: readonly PullSecret[]): readonly RegistryCredential[] {
  const { repository } = parseImageReference(image);
  const found = secrets.flatMap(entriesOf).filter(({ pattern }) => matches(pattern, repository));
  return found.sort((a, b) => b.pattern.length - a.pattern.length).map(({ credential }) => credential);
}

/** Tells whether a login was used before, without keeping it. */
export function credentialDigest(image: string, { username, password }: RegistryCredential): string {
  const [registry = ""] = parseImageReference(image).repository.split("/");
  return createHash("sha256")
    .update(JSON.stringify([registry, username, password]))
    .digest("hex");
}

interface Entry {
  /** A host, which may have `*` in its parts, and the start of a path. */
  readonly pattern: string;
  readonly credential: RegistryCredential;
}

function entriesOf({ data }: PullSecret): readonly Entry[] {
  const config = parsed(data[".dockerconfigjson"]);
  const auths = config === undefined ? parsed(data[".dockercfg"]) : config["auths"];
  if (!isJsonObject(auths)) return [];
  return Object.entries(auths).flatMap(([key, value]) => {
    const credential = isJsonObject(value) ? credentialOf(value) : undefined;
    return credential === undefined ? [] : [{ pattern: patternOf(key), credential }];
  });
}

function credentialOf({ auth, username, password }: JsonObject): RegistryCredential | undefined {
  if (typeof username === "string" && typeof password === "string" && username !== "") return { username, password };
  if (typeof auth !== "string") return undefined;
  const [user = "", ...rest] = Buffer.from(auth, "base64").toString("utf8").split(":");
  // Docker's own tools have padded it with NUL.
  return rest.length === 0 ? undefined : { username: user, password: rest.join(":").replace(/\0+$/, "") };
}

/** `https://index.docker.io/v1/` is `docker.io`. */
function patternOf(key: string): string {
  const [host = "", ...path] = key
    .replace(/^https?:\/\//, "")
    .replace(/\/+$/, "")
    .split("/");
  const rest = ["v1", "v2"].includes(path[0] ?? "") ? path.slice(1) : path;
  return [dockerHub.has(host) ? "docker.io" : host, ...rest].join("/");
}

function matches(pattern: string, repository: string): boolean {
  const [host = "", ...path] = pattern.split("/");
  const [registry = "", ...names] = repository.split("/");
  const parts = host.split(".");
  const found = registry.split(".");
  const isHost = parts.length === found.length && parts.every((part, i) => matchesGlob(part, found[i] ?? ""));
  return isHost && path.every((each, i) => each === names[i]);
}

/** In time that grows with the length alone: a pod's author writes the pattern. */
function matchesGlob(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

function parsed(text: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
