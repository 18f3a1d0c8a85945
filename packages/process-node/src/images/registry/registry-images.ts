/** Images of registries: pulls them into the cache of this machine, where they are as loaded ones. */
import { isSetpointError, messageOf } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { nodeError } from "../../errors.ts";
import { withBuildLock } from "../build-lock.ts";
import { isImageName, parseImageReference } from "../image-reference.ts";
import { isDigest } from "../oci/document.ts";
import { ownPlatform } from "../oci/image-config.ts";
import { archiveLimits, type ArchiveLimits } from "../oci/limits.ts";
import { installPulled } from "../oci/load-images.ts";
import { type LoadedImage, LoadedImages, type PulledFrom } from "../oci/loaded-images.ts";
import { downloadHead, downloadLayers } from "./download-image.ts";
import { credentialDigest, credentialsFor, type PullSecret, type RegistryCredential } from "./pull-credentials.ts";
import { pullRefusal } from "./pull-refusal.ts";
import { type Fetch, registryAddress } from "./registry-address.ts";
import { RegistrySession } from "./registry-session.ts";
import { type ResolvedImage, resolveImage } from "./resolve-image.ts";

/** How a pod wants an image. */
export interface PullRequest {
  /** Whether the registry is asked even if the image is here (`imagePullPolicy: Always`). */
  readonly isFresh?: boolean;
  /** Those of the pod. */
  readonly secrets?: () => Promise<readonly PullSecret[]>;
  readonly signal?: AbortSignal;
}

export interface RegistryImagesOptions {
  readonly clock: Clock;
  /** The image cache. */
  readonly directory: string;
  readonly fetch: Fetch;
  /** Replaced in tests. */
  readonly limits?: ArchiveLimits;
}

/** In the names of folders with downloads that go on. */
export const pullPrefix = "pull-";
/** Digests of logins kept with an image. */
const readersMax = 100;

/** Pulls images by name. An image that needed a login is given to pods that have such a login, only. */
export class RegistryImages {
  readonly #options: RegistryImagesOptions;
  readonly #loaded: LoadedImages;

  constructor(options: RegistryImagesOptions) {
    this.#options = options;
    this.#loaded = new LoadedImages(options.directory);
  }

  /**
   * The image, pulled when it is missing, or when its registry must be asked. Rejects with ERR_IMAGE_PULL,
   * ERR_IMAGE_DENIED or ERR_NO_DISK_SPACE.
   */
  async ensure(image: string, { isFresh = false, secrets, signal }: PullRequest): Promise<LoadedImage> {
    const credentials = credentialsFor(image, (await secrets?.()) ?? []);
    const present = this.#loaded.find(image);
    if (present !== undefined && !isFresh && mayUse(present, credentials)) return present;
    try {
      return await this.#pull(image, credentials, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const code = isSetpointError(error, "ERR_IMAGE_DENIED") ? "ERR_IMAGE_DENIED" : codeOf(error);
      throw nodeError(code, messageOf(error), error);
    }
  }

  /** With each login, until the registry takes one; without, when the pod has none. */
  async #pull(
    image: string,
    credentials: readonly RegistryCredential[],
    signal: AbortSignal | undefined,
  ): Promise<LoadedImage> {
    requireName(image);
    let denied: unknown;
    for (const credential of credentials.length === 0 ? [undefined] : credentials) {
      try {
        return await this.#pullWith(image, credential, signal);
      } catch (error) {
        if (!isSetpointError(error, "ERR_IMAGE_DENIED")) throw error;
        denied = error;
      }
    }
    throw denied;
  }

  async #pullWith(
    image: string,
    credential: RegistryCredential | undefined,
    signal: AbortSignal | undefined,
  ): Promise<LoadedImage> {
    const { clock, directory, fetch, limits = archiveLimits } = this.#options;
    using deadline = timeLimit(clock, limits.loadMsMax, signal);
    const session = new RegistrySession(
      { fetch, registry: registryAddress(image), signal: deadline.signal },
      credential,
    );
    const { digest, tag = "latest" } = parseImageReference(image);
    const resolved = await resolveImage(session, digest ?? tag, ownPlatform(), limits);
    const key = createHash("sha256")
      .update(`${pulledName(image)} ${resolved.manifestDigest}`)
      .digest("hex");
    const folder = join(directory, `${pullPrefix}${key}`);
    return withBuildLock(
      clock,
      folder,
      async () => {
        try {
          rmSync(folder, { recursive: true, force: true });
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          return await this.#install(image, credential, { session, resolved, folder, signal: deadline.signal });
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      },
      deadline.signal,
    );
  }

  /** What is unpacked already is not fetched again, if this login has proven before that it may have it. */
  async #install(image: string, credential: RegistryCredential | undefined, pull: Pull): Promise<LoadedImage> {
    const { clock, directory, limits = archiveLimits } = this.#options;
    const { session, resolved, folder, signal } = pull;
    await downloadHead(session, resolved, folder);
    const credentials = credential === undefined ? [] : [credential];
    const same = this.#loaded.list().filter(({ id }) => id === resolved.config.digest);
    const name = pulledName(image);
    const pulled = pulledFrom(name, resolved, credential, same.find((each) => each.name === name)?.pulled);
    const known = same.find((each) => mayUse(each, credentials));
    if (known !== undefined) {
      const again = { ...known, name, manifestDigest: resolved.manifestDigest, pulled };
      this.#loaded.save(again);
      return again;
    }
    await downloadLayers(session, resolved, folder, freeBytesIn(directory));
    const [installed] = await installPulled({ clock, directory, path: folder, limits, signal }, { name, from: pulled });
    if (installed === undefined) throw pullRefusal("it holds no image");
    return installed;
  }
}

interface Pull {
  readonly session: RegistrySession;
  readonly resolved: ResolvedImage;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** A tag may move and a digest cannot, so an image that was asked for by digest gets no tag. */
function pulledName(image: string): string {
  const { repository, tag = "latest", digest } = parseImageReference(image);
  return digest === undefined ? `${repository}:${tag}` : `${repository}@${digest}`;
}

function requireName(image: string): void {
  const { digest } = parseImageReference(image);
  const [name = ""] = image.split("@");
  if (!isImageName(name)) throw pullRefusal(`expected the name of an image such as registry.example.com/candy:1.2`);
  if (digest !== undefined && !isDigest(digest))
    throw pullRefusal("expected a digest of sha256: and 64 hexadecimal digits");
}

function pulledFrom(
  name: string,
  { indexDigest }: ResolvedImage,
  credential: RegistryCredential | undefined,
  before: PulledFrom | undefined,
): PulledFrom {
  const reader = credential === undefined ? [] : [credentialDigest(name, credential)];
  return {
    ...(indexDigest === undefined ? {} : { indexDigest }),
    isPublic: credential === undefined || before?.isPublic === true,
    readers: [...new Set([...(before?.readers ?? []), ...reader])].slice(-readersMax),
  };
}

/** Whether the registry has given the image to one of these logins before, or to anybody. */
function mayUse({ name, pulled }: LoadedImage, credentials: readonly RegistryCredential[]): boolean {
  if (pulled === undefined || pulled.isPublic) return true;
  return credentials.some((each) => pulled.readers.includes(credentialDigest(name, each)));
}

function codeOf(error: unknown): "ERR_IMAGE_PULL" | "ERR_NO_DISK_SPACE" {
  const isFull = isSetpointError(error, "ERR_NO_DISK_SPACE") || (error as { code?: unknown }).code === "ENOSPC";
  return isFull ? "ERR_NO_DISK_SPACE" : "ERR_IMAGE_PULL";
}

function freeBytesIn(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** A signal that is also aborted when the time is over. */
function timeLimit(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal | undefined,
): Disposable & { readonly signal: AbortSignal } {
  const abort = new AbortController();
  const late = pullRefusal(`expected to be pulled within ${limitMs / 1_000} s`);
  const timer = clock.setTimer(() => abort.abort(late), limitMs, { unref: true });
  const all = signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]);
  return { signal: all, [Symbol.dispose]: () => timer.cancel() };
}
