import { mkdtempSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { expect, test, onTestFinished } from "vitest";
import { systemClock } from "@setpoint/host/system";
import { BubblewrapRuntime } from "./bubblewrap-runtime.ts";

/** A root made of this host's own /usr: no download is needed to test the sandbox. */
function hostRoot(): { root: string; directory: string } {
  const directory = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const root = join(directory, "root");
  execFileSync("mkdir", ["-p", `${root}/usr/bin`, `${root}/usr/lib`, `${root}/etc`]);
  for (const name of ["sh", "sleep", "cat", "id", "ls", "hostname"])
    execFileSync("cp", ["-L", `/usr/bin/${name}`, `${root}/usr/bin/`], { stdio: "ignore" });
  execFileSync("sh", [
    "-c",
    `for f in $(ldd /usr/bin/sh /usr/bin/sleep /usr/bin/ls /usr/bin/id | grep -o '/[^ ]*' | grep -v : | sort -u); do mkdir -p ${root}$(dirname $f); cp -L $f ${root}$f; done`,
  ]);
  return { root, directory };
}

const reason = hasBubblewrap() ? "" : "bubblewrap is not installed";

function hasBubblewrap(): boolean {
  try {
    execFileSync("bwrap", ["--version"]);
    return true;
  } catch {
    return false;
  }
}

function spec(root: string, command: string[], extra: object = {}) {
  let output = "";
  const onOutput = (_: string, chunk: Uint8Array): void => void (output += Buffer.from(chunk).toString());
  const base = {
    id: "uid/main/0",
    rootDirectory: root,
    command,
    env: { PATH: "/usr/bin" },
    hostname: "web-0",
    mounts: [],
    files: {},
    onOutput,
  };
  return { spec: { ...base, ...extra }, output: () => output };
}

test.skipIf(reason)(`a container sees its own files, host name and volumes ${reason}`, async () => {
  const { root, directory } = hostRoot();
  const runtime = new BubblewrapRuntime({ clock: systemClock, directory: join(directory, "state") });
  const volume = join(directory, "volume");
  execFileSync("mkdir", [volume]);
  const script = "hostname; cat /etc/resolv.conf; echo kept > /var/lib/app/data; echo x > /new; exit 3";
  const files = { "/etc/resolv.conf": "nameserver 127.96.0.10\n" };
  const { spec: it, output } = spec(root, ["sh", "-c", script], {
    files,
    mounts: [{ source: volume, target: "/var/lib/app" }],
  });
  const container = await runtime.start(it);
  expect(await container.exited).toEqual({ exitCode: 3 });
  expect(output()).toBe("web-0\nnameserver 127.96.0.10\n");
  expect(existsSync(join(volume, "data"))).toBe(true);
  expect(existsSync(join(root, "new"))).toBe(false);
});

test.skipIf(reason)("SIGTERM reaches the main process, and destroy() leaves nothing behind", async () => {
  const { root, directory } = hostRoot();
  const runtime = new BubblewrapRuntime({ clock: systemClock, directory: join(directory, "state") });
  const polite = await runtime.start(spec(root, ["sleep", "100"]).spec);
  polite.signal("SIGTERM");
  expect(await polite.exited).toEqual({ exitCode: 143 });
  const family = await runtime.start(spec(root, ["sh", "-c", "trap '' TERM; sleep 100 & wait; sleep 100"]).spec);
  family.destroy();
  expect((await family.exited).exitCode).toBe(137);
  expect(existsSync(`/proc/${family.pid}`)).toBe(false);
});

test.skipIf(reason)("exec runs inside the sandbox and as a chosen user", async () => {
  const { root, directory } = hostRoot();
  const runtime = new BubblewrapRuntime({ clock: systemClock, directory: join(directory, "state") });
  const container = await runtime.start(spec(root, ["sleep", "100"], { runAsUser: 1000 }).spec);
  const shell = container.exec(["sh", "-c", "id -u; hostname; cat; exit 7"]);
  let text = "";
  shell.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  shell.stdin.end("typed");
  expect(await shell.exited).toEqual({ exitCode: 7 });
  expect(text).toBe("1000\nweb-0\ntyped");
  container.destroy();
  await container.exited;
});

test.skipIf(reason)("a command that is given up leaves no process", async () => {
  const { root, directory } = hostRoot();
  const runtime = new BubblewrapRuntime({ clock: systemClock, directory: join(directory, "state") });
  const container = await runtime.start(spec(root, ["sleep", "100"]).spec);
  const commands = (): string => execFileSync("ps", ["-o", "args=", "--ppid", String(container.sandboxPid)]).toString();
  const hanging = container.exec(["sh", "-c", "echo up; sleep 98765"]);
  await new Promise((resolve) => hanging.stdout.once("data", resolve));
  hanging.kill();
  expect((await hanging.exited).exitCode).toBe(137);
  await expect.poll(() => execFileSync("ps", ["-eo", "args="]).toString()).not.toContain("sleep 98765");
  expect(commands()).toContain("sleep 100");
  container.destroy();
  await container.exited;
});

test.skipIf(reason)("a container sees new text in its own files", async () => {
  const { root, directory } = hostRoot();
  const runtime = new BubblewrapRuntime({ clock: systemClock, directory: join(directory, "state") });
  const files = { "/etc/hosts": "a long first line\n" };
  const container = await runtime.start(spec(root, ["sleep", "100"], { files }).spec);
  container.updateFiles({ "/etc/hosts": "short\n", "/etc/unknown": "x" });
  const shell = container.exec(["sh", "-c", "cat /etc/hosts; ls /etc"]);
  let text = "";
  shell.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await shell.exited;
  expect(text).toBe("short\nhosts\n");
  container.destroy();
  await container.exited;
});

test.skipIf(reason)("with a read-only root only volumes can be written", async () => {
  const { root, directory } = hostRoot();
  const runtime = new BubblewrapRuntime({ clock: systemClock, directory: join(directory, "state") });
  const mounts = [{ source: directory, target: "/data" }];
  const script = "for f in /x /etc/x /tmp/x /data/x; do (echo > $f) 2>/dev/null && echo $f; done";
  const { spec: it, output } = spec(root, ["sh", "-c", script], { mounts, readOnlyRoot: true, runAsUser: 1000 });
  await (
    await runtime.start(it)
  ).exited;
  expect(output()).toBe("/data/x\n");
});

test.skipIf(reason)("a program that the image lacks is refused with its name", async () => {
  const { root, directory } = hostRoot();
  const runtime = new BubblewrapRuntime({ clock: systemClock, directory: join(directory, "state") });
  await expect(runtime.start(spec(root, ["nosuch"]).spec)).rejects.toThrow('exec: "nosuch": executable file not found');
});
