import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test(
  "the process of an operator loads neither fetch, compression, an inspector, threads nor a line editor at its start",
  { timeout: 60_000 },
  async () => {
    const program = `
    await import("setpoint");
    await import("setpoint/process");
    console.log(JSON.stringify(process.moduleLoadList));`;
    const flags = ["--conditions=@setpoint/source", "--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: import.meta.dirname });
    const loaded = JSON.parse(stdout) as string[];
    const costly = [
      "internal/deps/undici/undici",
      "zlib",
      "inspector",
      "child_process",
      "worker_threads",
      "internal/readline/interface",
      "internal/crypto/webcrypto",
    ];
    expect(costly.filter((each) => loaded.includes(`NativeModule ${each}`))).toEqual([]);
  },
);
