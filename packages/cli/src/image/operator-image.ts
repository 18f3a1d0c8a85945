/** The image of an operator: Node, its libraries, the project and the packages that it needs. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { writeImageArchive } from "./image-archive.ts";
import { sharedLibraries } from "./node-files.ts";
import { commandOf, copyFile, copyProject, projectOf } from "./project-files.ts";

export interface OperatorImageOptions {
  /** The module that exports the operator, an absolute path. */
  readonly file: string;
  /** The name and tag that manifests use. */
  readonly reference: string;
  /** The archive to write, an absolute path. */
  readonly out: string;
}

const home = "/operator";
const nodeInImage = "/usr/local/bin/node";
/** The user of the Deployment that `setpoint manifests` prints. */
const user = 65_532;

/** Writes the image as an archive; resolves to its digest. Throws `ERR_IMAGE_BUILD`. */
export async function buildOperatorImage({ file, reference, out }: OperatorImageOptions): Promise<string> {
  const project = projectOf(file);
  const command = commandOf(project);
  const node = realpathSync(process.execPath);
  const root = mkdtempSync(join(tmpdir(), "setpoint-image-"));
  try {
    makeSystemFolders(root);
    copyProject(project, join(root, home), new Set([out]));
    const files = readdirSync(root, { recursive: true, encoding: "utf8" });
    for (const path of sharedLibraries(files.map((each) => join(root, each)))) copyFile(path, root);
    copyFile(node, root, nodeInImage);
    return await writeImageArchive({
      reference,
      root,
      out,
      entrypoint: [nodeInImage, join(home, command), "run", join(home, relative(project, file))],
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", NODE_ENV: "production" },
      workingDirectory: home,
      user: `${user}:${user}`,
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** What every image has of a system beside Node and its libraries. */
export function makeSystemFolders(root: string): void {
  chmodSync(root, 0o755);
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/passwd"), `operator:x:${user}:${user}::${home}:/sbin/nologin\n`);
  writeFileSync(join(root, "etc/group"), `operator:x:${user}:\n`);
  mkdirSync(join(root, "tmp"));
  chmodSync(join(root, "tmp"), 0o1777);
}
