/**
 * The images of the operators that come with Setpoint: the Node that runs this command, its libraries, and
 * the programs of this release. No registry and no Debian package is needed.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import { systemClock } from "@setpoint/host/system";
import { type ImageSource, type UndescribedImage, withBuildLock } from "@setpoint/process-node";
import { writeImageArchive } from "../image/image-archive.ts";
import { sharedLibraries } from "../image/node-files.ts";
import { makeSystemFolders } from "../image/operator-image.ts";
import { copyFile } from "../image/project-files.ts";
import { programFiles } from "./program-files.ts";
import { isCheckout, releaseFolder, type ReleaseOperator, releaseOperators } from "./release-operators.ts";

const home = "/app";
const nodeInImage = "/usr/local/bin/node";
/** The user of the manifests. */
const user = "65532:65532";

/** By name. A checkout is built when one of them is first needed. */
export function ownImages(): Readonly<Record<string, UndescribedImage>> {
  const images = releaseOperators().map((each) => [each.image, { describe: () => ownImage(each) }] as const);
  return Object.fromEntries(images);
}

/** The image of an operator; in a checkout its packages are built first. Throws `ERR_IMAGE_BUILD`. */
export async function ownImage({ folder }: Pick<ReleaseOperator, "folder">): Promise<ImageSource> {
  if (isCheckout) await buildCheckout();
  // In the npm package, an operator's files belong to that package.
  const files = programFiles(isCheckout ? folder : releaseFolder, home);
  const path = join(realpathSync(folder), "dist/main.js");
  const main = files.find(({ from }) => from === path);
  if (main === undefined) throw cannotBuild(`the program "${path}" is missing; install Setpoint again`);
  const libraries = sharedLibraries(files.map(({ from }) => from)).map((each) => ({ from: each, to: each }));
  return {
    files: [...libraries, { from: realpathSync(process.execPath), to: nodeInImage }, ...files],
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", NODE_ENV: "production" },
    entrypoint: [nodeInImage, main.to],
    workingDirectory: home,
    user,
  };
}

/** Writes the image of an operator as an archive; resolves to its digest. Throws `ERR_IMAGE_BUILD`. */
export async function writeOwnImage(
  operator: Pick<ReleaseOperator, "folder">,
  { reference, out }: { readonly reference: string; readonly out: string },
): Promise<string> {
  const { files = [], ...config } = await ownImage(operator);
  const root = mkdtempSync(join(tmpdir(), "setpoint-image-"));
  try {
    makeSystemFolders(root);
    for (const { from, to } of files) copyFile(from, root, to);
    return await writeImageArchive({ ...config, reference, root, out });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** A fraction of a second when nothing has changed. One at a time, because all write the same files. */
async function buildCheckout(): Promise<void> {
  const compiler = join(releaseFolder, "node_modules/.bin/tsc");
  const build = (): Promise<unknown> =>
    promisify(execFile)(compiler, ["-b", "tsconfig.build.json"], { cwd: releaseFolder });
  try {
    await withBuildLock(systemClock, join(releaseFolder, "tsconfig.build.json"), build);
  } catch (cause) {
    const { stdout = "" } = cause as { readonly stdout?: string };
    throw cannotBuild(stdout.trim() === "" ? messageOf(cause) : stdout.trim());
  }
}

function cannotBuild(why: string): Error {
  return new SetpointError("ERR_IMAGE_BUILD", `Cannot build an image of an operator of this release: ${why}`);
}
