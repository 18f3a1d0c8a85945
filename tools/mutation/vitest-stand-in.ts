/**
 * What test files get in a campaign when they import "vitest": the real `expect`, and a `test` that only
 * notes what there is to run, so that thousands of runs need no new process and no second import.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { pathToFileURL } from "node:url";

export { expect } from "vitest";

type Body = (...values: readonly unknown[]) => unknown;

export interface CollectedTest {
  readonly file: string;
  readonly name: string;
  readonly run: () => Promise<void>;
}

export const collectedTests: CollectedTest[] = [];
const importing = new AsyncLocalStorage<TestFile>();

class TestFile {
  readonly file: string;
  readonly afterEach: Body[] = [];

  constructor(file: string) {
    this.file = file;
  }

  add(name: string, body: Body, values: readonly unknown[]): void {
    const run = async (): Promise<void> => {
      try {
        await body(...values);
      } finally {
        for (const each of this.afterEach) await each();
      }
    };
    collectedTests.push({ file: this.file, name, run });
  }
}

/** Imports a test file and notes its tests. */
export async function collectTests(file: string): Promise<void> {
  await importing.run(new TestFile(file), () => import(pathToFileURL(file).href));
}

function current(): TestFile {
  const file = importing.getStore();
  if (file === undefined) throw new Error("Cannot note a test: no test file is being imported");
  return file;
}

export function test(name: string, body: Body): void {
  current().add(name, body, []);
}

test.each =
  (rows: readonly unknown[]) =>
  (name: string, body: Body): void => {
    for (const row of rows) current().add(name, body, Array.isArray(row) ? row : [row]);
  };

export function describe(_name: string, body: () => void): void {
  body();
}

export function afterEach(body: Body): void {
  current().afterEach.push(body);
}

/** What a file opens stays open while its tests run again and again; it ends with the process. */
export function afterAll(): void {}
