import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { copyPages, relativeLinks } from "./product-pages.ts";

const root = new URL("../..", import.meta.url).pathname;
const target = mkdtempSync(join(tmpdir(), "setpoint-pages-"));
afterAll(() => rmSync(target, { recursive: true }));
copyPages(target);

function deadLinks(folder: string, pages: readonly string[]): readonly string[] {
  return pages.flatMap((page) =>
    relativeLinks(readFileSync(join(folder, page), "utf8"))
      .filter((to) => !existsSync(join(folder, dirname(page), to)))
      .map((to) => `${page}: ${to}`),
  );
}

test("every link of a page of the repository leads to a file", () => {
  const pages = globSync(["*.md", "{docs,decisions,bench,packages,operators,e2e,examples}/**/*.md"], {
    cwd: root,
    exclude: ["**/node_modules/**"],
  });
  expect(pages.length).toBeGreaterThan(80);
  expect(deadLinks(root, pages)).toEqual([]);
});

test("every link of a page of the npm package leads to a file of the package", () => {
  const pages = globSync("**/*.md", { cwd: target });
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/README.md", "operators/etcd/README.md"]));
  expect(deadLinks(target, pages)).toEqual([]);
});

test("links between pages are kept in the npm package", () => {
  expect(relativeLinks(readFileSync(join(target, "docs/README.md"), "utf8"))).toEqual(
    relativeLinks(readFileSync(join(root, "docs/README.md"), "utf8")),
  );
});

test("the npm package has examples to copy and the manifests of the etcd operator", () => {
  for (const path of ["examples/candy/candy.ts", "examples/etcd/cluster.yaml", "operators/etcd/manifests/install.yaml"])
    expect(existsSync(join(target, path)), path).toBe(true);
  for (const path of ["examples/start.ts", "examples/tours", "examples/etcd/example.ts", "examples/postgres/tour"])
    expect(existsSync(join(target, path)), path).toBe(false);
});
