import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isTransferError, TransferError, transferReasons } from "./transfer-error.ts";

const page = new URL("../../../../docs/transfer-failures.md", import.meta.url);

test("the page of reasons has each reason, and whether another attempt is made", () => {
  const rows = readFileSync(page, "utf8").matchAll(/^\| `(\w+)` *\| (yes|no) /gm);
  const documented = Object.fromEntries(
    [...rows].map(([, reason = "", again]) => [reason, { retry: again === "yes" }]),
  );
  expect(documented).toEqual(transferReasons);
});

test("a TransferError is recognised by its brand and reason", () => {
  const error = new TransferError("StoreFull", "full");
  expect([isTransferError(error), isTransferError(error, "StoreFull"), isTransferError(error, "KeyMissing")]).toEqual([
    true,
    true,
    false,
  ]);
  expect([isTransferError(new Error("StoreFull")), isTransferError(undefined), isTransferError("StoreFull")]).toEqual([
    false,
    false,
    false,
  ]);
});
