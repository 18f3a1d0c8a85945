/** The programs of this host that a node runs, and the Debian packages that have them. */
import { accessSync, constants } from "node:fs";

/** What does not work without a program. */
export type ToolNeed = "pods" | "networks" | "images";

interface Tool {
  readonly program: string;
  readonly package: string;
  readonly need: ToolNeed;
  /** Absent: both use it. */
  readonly user?: "root" | "ordinary";
}

const tools: readonly Tool[] = [
  { program: "crun", package: "crun", need: "pods" },
  { program: "conmon", package: "conmon", need: "pods" },
  { program: "unshare", package: "util-linux", need: "pods" },
  { program: "nsenter", package: "util-linux", need: "pods" },
  { program: "setpriv", package: "util-linux", need: "pods" },
  { program: "perl", package: "perl-base", need: "pods" },
  { program: "nft", package: "nftables", need: "networks", user: "root" },
  { program: "ip", package: "iproute2", need: "networks", user: "root" },
  { program: "mmdebstrap", package: "mmdebstrap", need: "images" },
  { program: "newuidmap", package: "uidmap", need: "images", user: "ordinary" },
];
const folders = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];

/** A Debian package that is not installed. */
export interface MissingPackage {
  readonly name: string;
  readonly need: ToolNeed;
}

/** The user for whom programs are looked for, and how; a test has its own. */
export interface ToolSearch {
  readonly isRoot: boolean;
  readonly has: (program: string) => boolean;
}

const ofThisHost: ToolSearch = { isRoot: process.getuid?.() === 0, has: hasProgram };

/** All packages that this host lacks, so that one command can install them. */
export function missingPackages({ isRoot, has }: ToolSearch = ofThisHost): readonly MissingPackage[] {
  const user = isRoot ? "root" : "ordinary";
  const missing = tools.filter((tool) => (tool.user ?? user) === user && !has(tool.program));
  const byName = new Map(missing.map((tool) => [tool.package, { name: tool.package, need: tool.need }]));
  return [...byName.values()];
}

/** `crun and conmon are not installed; type as root: apt-get install --yes crun conmon`. */
export function missingSentence(missing: readonly Pick<MissingPackage, "name">[]): string {
  const names = missing.map(({ name }) => name);
  const list = names.length === 1 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  const verb = names.length === 1 ? "is" : "are";
  return `${list} ${verb} not installed; type as root: apt-get install --yes ${names.join(" ")}`;
}

function hasProgram(program: string): boolean {
  return folders.some((folder) => {
    try {
      accessSync(`${folder}/${program}`, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
