import { spawn } from "node:child_process";
import { once } from "node:events";
import { type DisposableTempDir, mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { endsWithParent } from "./end-with-parent.ts";

const program = fileURLToPath(new URL("waits.fixture.ts", import.meta.url));

/**
 * The output of a program when only its shell gets the signal; the test ends it if it does not end by itself.
 */
async function saidWithout(environment: NodeJS.ProcessEnv): Promise<string> {
  const { npm_command: _, ...others } = process.env;
  // Two commands, so that the shell does not become the first.
  const shell = spawn("sh", ["-c", '"$0" "$1" & echo $!; wait; true', process.execPath, program], {
    env: { ...others, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  let killer: ReturnType<typeof setTimeout> | undefined;
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (killer !== undefined || !said.includes("ready")) return;
    shell.kill("SIGTERM");
    killer = setTimeout(() => process.kill(Number.parseInt(said), "SIGKILL"), 1_500);
  });
  await once(shell, "close");
  clearTimeout(killer);
  return said.replace(/^\d+\n/, "");
}

test.each([{ npm_command: "exec" }, { npm_command: "run-script" }, { [endsWithParent]: "1" }])(
  "a command that npm's shell or `setpoint dev` has started ends when that is gone: %j",
  async (environment) => {
    expect(await saidWithout(environment)).toBe("ready\nstopped\n");
  },
);

test("a command that another shell leaves behind goes on", async () => {
  expect(await saidWithout({})).toBe("ready\n");
});

/** A project whose command `waits` is the program above. */
function waitsProject(): DisposableTempDir {
  const folder = mkdtempDisposableSync(join(tmpdir(), "setpoint-npx-"));
  const bin = join(folder.path, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(folder.path, "package.json"), '{"name":"one","private":true}');
  const source = `#!/bin/sh\nexec "${process.execPath}" --conditions=@setpoint/source "${program}"\n`;
  writeFileSync(join(bin, "waits"), source, { mode: 0o755 });
  return folder;
}

test("24 2.7: ^C reaches the child through npx, which ends when the child has stopped", async () => {
  using folder = waitsProject();
  const npx = spawn("npx", ["waits"], { cwd: folder.path, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const group = -(npx.pid ?? 0);
  let said = "";
  npx.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    // A terminal sends the signal to all that it has started.
    if (text.includes("ready")) process.kill(group, "SIGINT");
  });
  await once(npx, "exit");
  expect(said).toBe("ready\nstopped\n");
  expect(() => process.kill(group, 0)).toThrow("ESRCH");
});

interface NpxRun {
  readonly said: string;
  readonly code: number | null;
}

/** What `waits` says under npx, when npx alone gets the signal. */
async function signalToNpx(signal: "SIGINT" | "SIGTERM", args: readonly string[]): Promise<NpxRun> {
  using folder = waitsProject();
  const npx = spawn("npx", args, { cwd: folder.path, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  npx.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (text.includes("ready")) npx.kill(signal);
  });
  // The output is closed when the last process has ended that holds it.
  const [code] = (await once(npx, "close")) as [number | null];
  return { said, code };
}

test("24 2.7: SIGTERM to npx alone ends the child, by way of its parent's end", async () => {
  expect((await signalToNpx("SIGTERM", ["waits"])).said).toBe("ready\nstopped\n");
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "24 2.7: %s to npx alone reaches a command that the shell executes in its own place",
  async (signal) => {
    expect(await signalToNpx(signal, ["-c", "exec waits"])).toEqual({ said: "ready\nstopped\n", code: 0 });
  },
);

test("24 2.7: the scripts of a new project that run until they are stopped begin with exec", () => {
  const path = new URL("../templates/operator/package.json.txt", import.meta.url);
  const { scripts } = JSON.parse(readFileSync(path, "utf8")) as { readonly scripts: Record<string, string> };
  expect(scripts["start"]).toMatch(/^exec setpoint run /);
  expect(scripts["dev"]).toMatch(/^exec setpoint dev /);
});
