import { messageOf } from "@setpoint/apimachinery";
import { createHash } from "node:crypto";
import { cp, lstat, rm } from "node:fs/promises";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  readdirSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, type Logger, TimeSlices } from "@setpoint/host";
import { nodeError } from "../errors.ts";
import { findDebianMirror } from "./apt-mirror.ts";
import { withBuildLock } from "./build-lock.ts";
import { copyIntoRoot } from "./copy-into-root.ts";
import { addUsers } from "./add-users.ts";
import { addLinks, checkVersion, completeRoot, extractClosure } from "./debian-closure.ts";
import { type ImageCatalog, unknownImage } from "./image-catalog.ts";
import { parseImageReference } from "./image-reference.ts";
import { type LoadedImage, LoadedImages, loadedPrefix } from "./oci/loaded-images.ts";
import { type PullRequest, pullPrefix, type RegistryImages } from "./registry/registry-images.ts";
import type { DebianClosure, ImageConfig, ImageFile, ImageSource, LocalImage, UndescribedImage } from "./image.ts";

/** What happens while an image is fetched, for a person to see. */
export interface ImageProgress {
  readonly kind: "image";
  readonly image: string;
  readonly step: "building" | "fetching" | "pulling" | "copying" | "ready";
  readonly seconds?: number;
}

/** Where images are cached, and how they are built. */
export interface ImageStoreOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The content-addressed cache; processes may share it. */
  readonly directory: string;
  readonly catalog: ImageCatalog;
  /** Asked for names that nothing else knows; absent: such names are unknown. */
  readonly registries?: Pick<RegistryImages, "ensure">;
  readonly mirror?: string;
  readonly onProgress?: (progress: ImageProgress) => void;
  /** Replaced in tests. */
  readonly extract?: typeof extractClosure;
  /** Replaced in tests. */
  readonly freeBytes?: (directory: string) => number;
}

/** The largest closures unpack to some 400 MB. */
const freeBytesMin = 700 * 1024 * 1024;
/** Images of local files are looked through this often. */
const sweepMs = 3_600_000;
const unusedMsMax = 2 * 24 * 3_600_000;
/** In the names of images that lay local files over a closure. */
const localPrefix = "local-";
/** Part of every hash: raise it when the same inputs make a different root. */
const layoutVersion = 1;

/** Without devices, pipes and sockets: a container gets a /dev of its own. */
async function copyTree(from: string, to: string): Promise<void> {
  const filter = async (path: string): Promise<boolean> => {
    const entry = await lstat(path);
    return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
  };
  await cp(from, to, { recursive: true, verbatimSymlinks: true, mode: copyOnWrite, filter });
}

/**
 * Images by name, as root file systems on disk. Each is built once, atomically, and shared read-only by all
 * containers.
 */
export class ImageStore {
  readonly #options: ImageStoreOptions;
  readonly #loaded: LoadedImages;
  readonly #building = new Map<string, Promise<LocalImage>>();
  /** What this process has described, by name. */
  readonly #described = new Map<string, ImageSource>();
  /** Roots that this process gave out: containers may run in them. */
  readonly #used = new Set<string>();
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(options: ImageStoreOptions) {
    this.#options = options;
    this.#loaded = new LoadedImages(options.directory);
  }

  /** Whether the image is present, so that no pull is needed. */
  has(name: string): boolean {
    const source = this.#find(name);
    if (source === undefined || "describe" in source) return false;
    return "id" in source || existsSync(this.#rootOf(imageHash(source)));
  }

  /** The image, built or pulled when it is missing. Concurrent calls share one build. */
  ensure(name: string, request: PullRequest = {}): Promise<LocalImage> {
    const found = this.#find(name);
    if (found === undefined || ("id" in found && found.pulled !== undefined)) return this.#ensurePulled(name, request);
    const building =
      this.#building.get(name) ?? this.#ensure(name, found, request.signal).finally(() => this.#building.delete(name));
    this.#building.set(name, building);
    return building;
  }

  /**
   * Marks images in use, and removes images that were unused for days: those of local files, of which each
   * build of a program adds one, pulled ones, and loaded ones that have no name any more. Closures stay,
   * because the host may have no network when they are needed again.
   */
  async keepHouse(): Promise<void> {
    const { clock, directory, log } = this.#options;
    for (const hash of this.#used) touch(this.#rootOf(hash), this.#options.clock.now());
    if (clock.monotonic() - this.#sweptMs < sweepMs || !existsSync(directory)) return;
    this.#sweptMs = clock.monotonic();
    this.#forgetPulled();
    const named = new Set(this.#loaded.list().map(({ id }) => this.#loaded.folderOf(id)));
    const isRemovable = (each: string): boolean =>
      each.startsWith(localPrefix) ||
      each.startsWith(pullPrefix) ||
      (each.startsWith(loadedPrefix) && !named.has(each));
    for (const name of readdirSync(directory).filter(isRemovable)) {
      const path = join(directory, name);
      if (!this.#isUnused(name)) continue;
      await rm(path, { recursive: true, force: true });
      log.info("Removed unused image", { hash: name });
    }
  }

  /** Pulled images that nobody used for days lose their names. */
  #forgetPulled(): void {
    for (const { id, name, pulled } of this.#loaded.list())
      if (pulled !== undefined && this.#isUnused(this.#loaded.folderOf(id))) this.#loaded.remove(name);
  }

  #isUnused(folder: string): boolean {
    const { clock, directory } = this.#options;
    if (this.#used.has(folder)) return false;
    const found = statSync(join(directory, folder), { throwIfNoEntry: false });
    return found !== undefined && clock.now() - found.mtimeMs >= unusedMsMax;
  }

  async #ensurePulled(name: string, request: PullRequest): Promise<LocalImage> {
    const { clock, onProgress, registries } = this.#options;
    if (registries === undefined) throw unknownImage(name, this.#options.catalog);
    const startedMs = clock.monotonic();
    const isHere = this.has(name);
    if (!isHere) onProgress?.({ kind: "image", image: name, step: "pulling" });
    const image = await registries.ensure(name, request).catch((error: unknown) => {
      throw isHere ? error : unknownImage(name, this.#options.catalog, error);
    });
    if (!isHere)
      onProgress?.({ kind: "image", image: name, step: "ready", seconds: (clock.monotonic() - startedMs) / 1_000 });
    return this.#useLoaded(name, image);
  }

  #useLoaded(name: string, image: LoadedImage): LocalImage {
    const { id, config, bytes, manifestDigest, pulled } = image;
    const used = this.#use(name, this.#loaded.folderOf(id), id, config);
    const digest = pulled?.indexDigest ?? manifestDigest;
    const isPulled = pulled !== undefined && digest !== undefined;
    return { ...used, bytes, ...(isPulled ? { id: `${parseImageReference(name).repository}@${digest}` } : {}) };
  }

  async #ensure(
    name: string,
    found: ImageSource | LoadedImage | UndescribedImage,
    signal?: AbortSignal,
  ): Promise<LocalImage> {
    if ("id" in found) return this.#useLoaded(name, found);
    const source = "describe" in found ? await this.#describe(name, found) : found;
    const hash = imageHash(source);
    if (!existsSync(this.#rootOf(hash))) {
      const startedMs = this.#options.clock.monotonic();
      await this.#build(name, source, hash, signal);
      const seconds = (this.#options.clock.monotonic() - startedMs) / 1_000;
      this.#options.onProgress?.({ kind: "image", image: name, step: "ready", seconds });
    }
    return this.#use(name, hash, `sha256:${hash.replace(localPrefix, "")}`, source);
  }

  /** What a program of this process named comes first, then what was loaded, then the catalogue. */
  #find(name: string): ImageSource | LoadedImage | UndescribedImage | undefined {
    const { catalog } = this.#options;
    return catalog.findLocal(name) ?? this.#loaded.find(name) ?? this.#described.get(name) ?? catalog.find(name);
  }

  async #describe(name: string, image: UndescribedImage): Promise<ImageSource> {
    this.#options.onProgress?.({ kind: "image", image: name, step: "building" });
    const source = await image.describe();
    this.#described.set(name, source);
    return source;
  }

  #use(name: string, hash: string, id: string, config: ImageConfig): LocalImage {
    this.#used.add(hash);
    // Other users of the host must not run its setuid programs; each user of a pod walks through its root.
    chmodSync(this.#options.directory, 0o700);
    chmodSync(this.#rootOf(hash), 0o755);
    touch(this.#rootOf(hash), this.#options.clock.now());
    return { id: `process://${id}`, name, rootDirectory: this.#rootOf(hash), config };
  }

  async #build(name: string, source: ImageSource, hash: string, signal?: AbortSignal): Promise<void> {
    const closureRoot = await this.#ensureClosure(name, source, signal);
    if (closureRoot === this.#rootOf(hash)) return;
    this.#options.onProgress?.({ kind: "image", image: name, step: "copying" });
    await this.#atomically(
      hash,
      async (directory) => {
        // `cp -al` would let a write through one image reach another; copies are reflinks where the file
        // system can.
        if (closureRoot === undefined) makeEmptyRoot(directory);
        else await copyTree(closureRoot, directory);
        addLinks(directory, source.links ?? {});
        addUsers(directory, source.users ?? {});
        await this.#layFiles(directory, source.files ?? []);
      },
      signal,
    );
  }

  /** Closures are images of their own, shared by all that are laid over them. */
  async #ensureClosure(name: string, source: ImageSource, signal?: AbortSignal): Promise<string | undefined> {
    const { closure } = source;
    if (closure === undefined) return undefined;
    const plain: ImageSource = source.files === undefined ? source : { closure };
    const hash = imageHash(plain);
    if (existsSync(this.#rootOf(hash))) return this.#rootOf(hash);
    this.#options.onProgress?.({ kind: "image", image: name, step: "fetching" });
    this.#requireSpace(closure);
    const extract = this.#options.extract ?? extractClosure;
    await this.#atomically(
      hash,
      async (directory) => {
        await extract(closure, directory, this.#options.mirror ?? findDebianMirror());
        checkVersion(directory, plain);
        addLinks(directory, plain.links ?? {});
        addUsers(directory, plain.users ?? {});
      },
      signal,
    );
    return this.#rootOf(hash);
  }

  /** Builds a root under a temporary name and renames it when it is complete. */
  async #atomically(hash: string, make: (directory: string) => Promise<void>, signal?: AbortSignal): Promise<void> {
    const { clock, directory, log } = this.#options;
    await withBuildLock(
      clock,
      join(directory, `${hash}.lock`),
      async () => {
        if (existsSync(this.#rootOf(hash))) return;
        const temporary = join(directory, `${hash}.partial`);
        removeTree(temporary);
        try {
          mkdirSync(dirname(temporary), { recursive: true });
          await make(temporary);
          renameSync(temporary, this.#rootOf(hash));
        } catch (error) {
          removeTree(temporary);
          throw error;
        }
        log.info("Created image", { hash });
      },
      signal,
    );
  }

  /** An operator has more than a thousand files: other pods go on between them. */
  async #layFiles(root: string, files: readonly ImageFile[]): Promise<void> {
    const slices = new TimeSlices(this.#options.clock);
    for (const file of files) {
      if (slices.isOver()) await slices.pause();
      copyIntoRoot(root, file);
    }
  }

  #requireSpace(closure: DebianClosure): void {
    const { directory } = this.#options;
    try {
      mkdirSync(directory, { recursive: true });
      const freeBytes = (this.#options.freeBytes ?? freeBytesOf)(directory);
      if (freeBytes >= freeBytesMin) return;
      const free = Math.floor(freeBytes / 1024 / 1024);
      const wanted = freeBytesMin / 1024 / 1024;
      const what = `Cannot fetch packages ${closure.packages.join(", ")}`;
      throw nodeError("ERR_NO_DISK_SPACE", `${what}: ${free} MB are free in ${directory}, ${wanted} MB are needed`);
    } catch (error) {
      if ((error as { code?: unknown }).code === "ERR_NO_DISK_SPACE") throw error;
      throw nodeError("ERR_IMAGE_BUILD", `Cannot use image cache "${directory}": ${messageOf(error)}`, error);
    }
  }

  #rootOf(hash: string): string {
    return join(this.#options.directory, hash);
  }
}

/** Its time of change is when it was used last. */
function touch(path: string, nowMs: number): void {
  utimesSync(path, nowMs / 1_000, nowMs / 1_000);
}

/** COPYFILE_FICLONE */
const copyOnWrite = 2;

/**
 * Equal for equal inputs: packages, links, and the content identity (path, size, time) of the files laid
 * over.
 */
export function imageHash(source: ImageSource): string {
  const { suite, packages } = source.closure ?? { suite: "", packages: [] };
  const files = (source.files ?? []).flatMap(({ from, to }) => [...fileIdentity(from, to)]);
  const content = {
    layoutVersion,
    suite,
    packages,
    links: source.links ?? {},
    users: source.users,
    version: source.version ?? null,
    files,
  };
  const hash = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  return files.length > 0 ? `${localPrefix}${hash}` : hash;
}

function* fileIdentity(from: string, to: string): Iterable<string> {
  const stat = statSync(from);
  if (!stat.isDirectory()) {
    yield `${to} ${stat.size} ${stat.mtimeMs} ${stat.mode}`;
    return;
  }
  for (const name of readdirSync(from).sort()) yield* fileIdentity(join(from, name), `${to}/${name}`);
}

function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function makeEmptyRoot(directory: string): void {
  mkdirSync(directory);
  completeRoot(directory);
}

function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
