import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Which of Node's modules a program has loaded after its imports. */
async function loadedBy(program: string): Promise<readonly string[]> {
  const print = `console.log(JSON.stringify(process.moduleLoadList))`;
  const flags = ["--conditions=@setpoint/source", "--input-type=module", "--eval", `${program};${print}`];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: import.meta.dirname });
  return JSON.parse(stdout) as string[];
}

const costly = [
  "NativeModule internal/deps/undici/undici",
  "NativeModule https",
  "NativeModule zlib",
  "NativeModule child_process",
];

test("a program that imports the client and its host loads neither fetch nor HTTP/1.1, compression or child processes", async () => {
  const loaded = await loadedBy(`import "@setpoint/client/node"; import "@setpoint/host/system"`);
  expect(loaded).toContain("NativeModule http2");
  expect(costly.filter((each) => loaded.includes(each))).toEqual([]);
});

test("a connection over HTTP/1.1 loads HTTP/1.1 without fetch", async () => {
  const program = `
    import { httpTransport } from "@setpoint/client/node";
    import { systemHost } from "@setpoint/host/system";
    await using transport = httpTransport({ server: "http://127.0.0.1:1", clock: systemHost({ write: () => {} }).clock });
    await transport.send({ method: "GET", path: "/version" }).catch(() => {});`;
  const loaded = await loadedBy(program);
  expect(loaded).toContain("NativeModule http");
  expect(costly.slice(0, 1).filter((each) => loaded.includes(each))).toEqual([]);
});
