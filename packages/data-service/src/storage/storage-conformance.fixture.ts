/** What every store must do alike; one suite for all of them. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { isTransferError } from "../engine/transfer-error.ts";
import type { BackupStorage } from "./backup-storage.ts";

const { signal } = new AbortController();
const partBytes = 8 * 1024 * 1024;

async function reasonOf(run: Promise<unknown>): Promise<string> {
  return run.then(
    () => "done",
    (error: unknown) => (isTransferError(error) ? error.reason : String(error)),
  );
}

/** Registers the tests for the stores that `open` opens; each test uses paths of its own. */
export function storageConformance(name: string, open: () => BackupStorage | undefined): void {
  const conform = (claim: string, check: (storage: BackupStorage) => Promise<void>): void =>
    test(`${name}: ${claim}`, async ({ skip }) => {
      const storage = open();
      if (storage === undefined) return skip("the store is not installed");
      await check(storage);
    });

  conform("what was written is read, measured and listed", async (storage) => {
    const bytes = randomBytes(partBytes);
    await storage.write("conformance/one/00000001", bytes, signal);
    await storage.write("conformance/one.json", Buffer.from("{}"), signal);
    expect(bytes.equals(await storage.read("conformance/one/00000001", partBytes, signal))).toBe(true);
    expect(await storage.stat("conformance/one/00000001", signal)).toBe(partBytes);
    expect(await storage.list("conformance/one", signal)).toEqual(["conformance/one/00000001"]);
  });

  conform("a write replaces what is there", async (storage) => {
    await storage.write("conformance/two", Buffer.from("longer"), signal);
    await storage.write("conformance/two", Buffer.from("new"), signal);
    expect(Buffer.from(await storage.read("conformance/two", 10, signal)).toString()).toBe("new");
  });

  conform("what is missing is missing, and deleting it succeeds", async (storage) => {
    expect(await storage.stat("conformance/none", signal)).toBeUndefined();
    expect(await reasonOf(storage.read("conformance/none", 10, signal))).toBe("BackupMissing");
    expect(await storage.list("conformance/none", signal)).toEqual([]);
    expect(await reasonOf(storage.delete("conformance/none", signal))).toBe("done");
    expect(await reasonOf(storage.delete("conformance/none/", signal))).toBe("done");
  });

  conform("what is deleted is gone, and its neighbours stay", async (storage) => {
    for (const path of ["a/00000001", "a/00000002", "ab/00000001"])
      await storage.write(`conformance/three/${path}`, Buffer.from("x"), signal);
    await storage.delete("conformance/three/a/00000001", signal);
    expect(await storage.list("conformance/three/a", signal)).toEqual(["conformance/three/a/00000002"]);
    await storage.delete("conformance/three/a/00000002", signal);
    await storage.delete("conformance/three/a/", signal);
    expect(await storage.list("conformance/three", signal)).toEqual(["conformance/three/ab/00000001"]);
  });

  conform("more than a page of objects is listed", async (storage) => {
    const paths = Array.from({ length: 1_100 }, (_, index) => `conformance/many/${String(index).padStart(8, "0")}`);
    for (let at = 0; at < paths.length; at += 50)
      await Promise.all(paths.slice(at, at + 50).map((path) => storage.write(path, Buffer.from("x"), signal)));
    expect(await storage.list("conformance/many", signal)).toEqual(paths);
  });

  conform("an object that is larger than expected is refused", async (storage) => {
    await storage.write("conformance/large", Buffer.alloc(100), signal);
    expect(await reasonOf(storage.read("conformance/large", 99, signal))).toBe("BackupDamaged");
  });

  conform("paths that leave the store are refused", async (storage) => {
    for (const path of ["../x", "a/../../x", "/x", "a//b", ".x", "a/.x", "", "a\\b", "ä", "x".repeat(241)]) {
      expect(await reasonOf(storage.write(path, Buffer.from("x"), signal)), path).toBe("RequestInvalid");
      expect(await reasonOf(storage.read(path, 10, signal)), path).toBe("RequestInvalid");
      expect(await reasonOf(storage.delete(path, signal)), path).toBe("RequestInvalid");
    }
  });

  conform("an aborted call is cancelled, and afterwards the store comes to rest", async (storage) => {
    const controller = new AbortController();
    const written = reasonOf(storage.write("conformance/aborted", randomBytes(partBytes), controller.signal));
    controller.abort();
    expect(["Cancelled", "done"]).toContain(await written);
    expect(await reasonOf(storage.list("conformance", controller.signal))).toBe("Cancelled");
    await storage.idle();
  });
}
