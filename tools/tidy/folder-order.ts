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
    ...["kinds", "engine", "storage", "format", "archive", "agent", "tls", "versions", "plans", "transfer"],
    ...["backup", "plan", "restore", "data-claim", "drill", "binding", "operations", "fencing", "hibernation"],
    ...["members", "acceptance"],
  ],
  "operators/compliance-probe": [...["acts", "kind", "run", "seen", "observe", "plan", "act", "program", "report"]],
  "operators/etcd": [
    ...["gateway", "kind", "resources", "access", "seen", "observe", "plan", "status", "act"],
    ...["engine", "mirror"],
  ],
  "operators/hateful-set": ["kind", "seen", "observe", "plan", "act", "convert"],
  "operators/prometheus": [
    "kind",
    "generate",
    "select",
    "notification",
    "rules",
    "workload",
    "reload",
    "seen",
    "observe",
    "plan",
    "act",
    "bindings",
    "targets",
    "render",
  ],
  "packages/process-node": [
    ...["host", "cluster", "images", "volumes", "network", "sandbox", "pod"],
    ...["status", "probes", "logs", "workers", "kubelet", "node"],
  ],
};

/**
 * Packages whose files beside the folders are a foundation and the assembly at once: only their folders have
 * an order. The `index.ts` of a folder lists what an entry exports, and may import every folder.
 */
const orderedFolders: Readonly<Record<string, readonly string[]>> = {
  "packages/client": ["node", "raw", "simulated", "transports"],
  "packages/host": ["certificates", "simulated", "system"],
  "packages/setpoint": [
    ...["client", "hook", "install", "kinds", "pods", "rights", "sources", "testing", "webhooks"],
    ...["engine", "process", "declared"],
  ],
  "packages/testing": ["data-service", "faults", "operands", "etcd", "oracles", "explore", "laws"],
};

/**
 * Files beside the folders that every folder may import; the other files beside the folders assemble the
 * package.
 */
const foundations: ReadonlySet<string> = new Set(["errors.ts"]);

/** One line for each import of a later folder, and for each folder that the order lacks. */
export function folderOrderProblems(files: readonly SourceFile[]): readonly string[] {
  return [
    ...Object.entries(orders).flatMap(([folder, order]) => orderProblems(files, folder, order)),
    ...Object.entries(orderedFolders).flatMap(([folder, order]) =>
      orderProblems(foldersOnly(files, folder), folder, order),
    ),
  ];
}

/** The files in folders that are no entry, and of their imports those that are in folders too. */
export function foldersOnly(files: readonly SourceFile[], folder: string): readonly SourceFile[] {
  const base = `${folder}/src/`;
  const isInside = (path: string): boolean => path.startsWith(base) && path.slice(base.length).includes("/");
  return files
    .filter(({ path }) => isInside(path) && !path.endsWith("/index.ts"))
    .map((file) => ({ ...file, imports: file.imports.filter(isInside) }));
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
