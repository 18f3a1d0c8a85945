/** Assembles the npm package and checks its manifest and entries with publint; needs a build. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { assembleProduct } from "./product.ts";

const pkgDir = mkdtempSync(join(tmpdir(), "setpoint-product-"));
try {
  assembleProduct(pkgDir);
  const { messages, pkg } = await publint({ pkgDir, level: "warning", strict: true });
  for (const message of messages) console.error(`${pkg["name"]}: ${formatMessage(message, pkg, { color: false })}`);
  console.log(`package: ${messages.length} problems`);
  process.exitCode = messages.length === 0 ? 0 : 1;
} finally {
  rmSync(pkgDir, { recursive: true });
}
