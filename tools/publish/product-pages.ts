/** What people read and copy of the npm package: pages, examples, and the manifests of our operators. */
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

const pages = [
  "*.md",
  "LICENSE",
  "docs",
  "decisions",
  "bench/README.md",
  "examples/*",
  "operators/compliance-probe/{README.md,manifests}",
  "operators/etcd/{README.md,manifests,monitoring}",
  "operators/hateful-set/{README.md,manifests}",
  "operators/postgres/{README.md,manifests}",
  "operators/prometheus/{README.md,manifests}",
];
/** Programs of the repository: they need more than the package. */
const leftOut = [
  "examples/{etcd,postgres,prometheus}/*",
  "examples/tours",
  "examples/start.ts",
  "examples/web-app/lines.test.ts",
];
const kept = ["etcd/cluster.yaml", "postgres/cluster.yaml", "prometheus/monitoring.yaml"].map(
  (name) => `examples/${name}`,
);

/**
 * Copies the pages, at their places in the repository, so that their links hold. A link to what the package
 * does not have, such as a test, becomes its text.
 */
export function copyPages(target: string): void {
  const out = new Set(globSync(leftOut, { cwd: root }).filter((path) => !kept.includes(path)));
  for (const path of globSync(pages, { cwd: root })) {
    const filter = (from: string): boolean => !out.has(from.slice(root.length)) && !basename(from).startsWith(".");
    cpSync(join(root, path), join(target, path), { recursive: true, filter });
  }
  for (const path of globSync("**/*.md", { cwd: target })) withoutDeadLinks(join(target, path));
}

const link = /\[([^\]]+)\]\(([^)\s]+)\)/g;

/** The links of a page to other files, relative to the page, without the part behind `#`. */
export function relativeLinks(text: string): readonly string[] {
  return [...text.matchAll(link)]
    .map(([, , to = ""]) => to)
    .filter(isRelative)
    .map(pathOf);
}

function withoutDeadLinks(page: string): void {
  const isDead = (to: string): boolean => isRelative(to) && !existsSync(join(dirname(page), pathOf(to)));
  const text = readFileSync(page, "utf8");
  writeFileSync(
    page,
    text.replace(link, (whole, shown: string, to: string) => (isDead(to) ? shown : whole)),
  );
}

function isRelative(to: string): boolean {
  return !/^([a-z]+:|#)/.test(to);
}

function pathOf(to: string): string {
  return to.replace(/#.*/, "");
}
