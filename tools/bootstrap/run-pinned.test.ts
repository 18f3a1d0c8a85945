import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const directory = fileURLToPath(new URL(".", import.meta.url));
const program = `import("./run-pinned.mjs").then((it) => it.runPinned("tools/bootstrap/waits.fixture.ts", []))`;

test.each(["SIGINT", "SIGTERM"] as const)("who tells `npm start` %s alone stops what it runs", async (signal) => {
  const wrapper = spawn(process.execPath, ["-e", program], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
  const said: string[] = [];
  wrapper.stdout.setEncoding("utf8").on("data", (text: string) => {
    said.push(text);
    if (text.includes("ready")) wrapper.kill(signal);
  });
  const [code] = (await once(wrapper, "close")) as [number | null];
  expect(said.join("")).toBe("ready\nstopped\n");
  expect(code).toBe(0);
});
