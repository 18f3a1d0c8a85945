/**
 * DESIGN 2: inside a large package the folders have an order, and a folder imports only itself and earlier
 * ones.
 */
import type { SourceFile } from "./source-files.ts";

/** The folders below `src` of a package, first to last. Every folder of the package is listed. */
const orders: Readonly<Record<string, readonly string[]>> = {
  "packages/apiserver": [
    ...[
      "storage",
      "response",
      "request",
      "registry",
      "patch",
      "apply",
      "validation",
      "read",
      "write",
      "watch",
      "metrics",
    ],
    ...["admission", "webhook", "auth", "aggregation", "assembly", "faults", "http"],
  ],
  "packages/runtime": [
    ...["cache", "queue", "objects", "events", "controller", "writes", "status", "protection"],
    ...["run", "sources", "handlers", "coordination", "why", "webhook", "manager"],
  ],
  "packages/data-service": [
    ...["kinds", "engine", "storage", "archive", "format", "agent", "tls", "versions", "plans", "transfer"],
    ...["backup", "plan", "restore", "data-claim", "drill", "binding", "operations", "fencing"],
    ...["members", "acceptance"],
  ],
  "operators/etcd": [
    ...["gateway", "kind", "resources", "access", "seen", "observe", "plan", "status", "act"],
    ...["engine", "mirror"],
  ],
  "packages/process-node": [
    ...["host", "cluster", "images", "volumes", "network", "sandbox", "pod"],
    ...["status", "probes", "logs", "workers", "kubelet", "node"],
  ],
};

/**
 * Files beside the folders that every folder may import; the other files beside the folders assemble the
 * package.
 */
const foundations: ReadonlySet<string> = new Set(["errors.ts"]);

/** One line for each import of a later folder, and for each folder that the order lacks. */
export function folderOrderProblems(files: readonly SourceFile[]): readonly string[] {
  return Object.entries(orders).flatMap(([folder, order]) => orderProblems(files, folder, order));
}

/** The same for one package and its order. */
export function orderProblems(
  files: readonly SourceFile[],
  folder: string,
  order: readonly string[],
): readonly string[] {
  const sources = files.filter(
    ({ path, isTest }) => path.startsWith(`${folder}/src/`) && !isTest && !path.startsWith(`${folder}/src/testing/`),
  );
  return sources.flatMap((file) => problemsOf(file, folder, order));
}

function problemsOf({ path, imports }: SourceFile, folder: string, order: readonly string[]): readonly string[] {
  const base = `${folder}/src/`;
  const own = rankOf(path.slice(base.length), order);
  if (own === undefined) return [`${path}: its folder is not in the order of ${folder} (tools/tidy/folder-order.ts)`];
  return imports
    .filter((target) => target.startsWith(base))
    .filter((target) => (rankOf(target.slice(base.length), order) ?? 0) > own)
    .map((target) => `${path}: imports ${target}, which is in a later folder (tools/tidy/folder-order.ts)`);
}

/**
 * The place of a file in the order: foundations first, then the folders, then the files that assemble the
 * package.
 */
function rankOf(path: string, order: readonly string[]): number | undefined {
  if (foundations.has(path)) return -1;
  if (!path.includes("/")) return order.length;
  const rank = order.indexOf(path.slice(0, path.indexOf("/")));
  return rank === -1 ? undefined : rank;
}
