/** Packs every package as a registry would get it and checks its manifest and entries with publint. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const root = new URL("../..", import.meta.url).pathname;
const folders = ["packages", "operators"].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
);
let problems = 0;

for (const pkgDir of folders) {
  const { messages, pkg } = await publint({ pkgDir, level: "warning", strict: true });
  for (const message of messages) console.error(`${pkg["name"]}: ${formatMessage(message, pkg, { color: false })}`);
  problems += messages.length;
}
console.log(`packages: ${folders.length} checked, ${problems} problems`);
process.exitCode = problems === 0 ? 0 : 1;
