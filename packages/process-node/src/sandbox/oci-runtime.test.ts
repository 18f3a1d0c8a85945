import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ExecProcess } from "./container-runtime.ts";
import { missingTools, OciWorld } from "./oci-world.fixture.ts";

const run = test.skipIf(missingTools !== "");
const suffix = missingTools === "" ? "" : ` (skipped: ${missingTools})`;

const mega = 1024 * 1024;

async function textOf(child: ExecProcess): Promise<string> {
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await child.exited;
  return text;
}

run(`a container sees its own files, host name and volumes${suffix}`, async () => {
  const world = new OciWorld();
  await world.sandbox();
  const volume = join(world.directory, "volume");
  mkdirSync(volume, { mode: 0o777 });
  execFileSync("chmod", ["777", volume, world.directory]);
  const script = "hostname; cat /etc/resolv.conf; echo kept > /var/lib/app/data; echo x > /new; exit 3";
  const spec = world.spec(["sh", "-c", script], {
    files: { "/etc/resolv.conf": "nameserver 127.96.0.10\n" },
    mounts: [{ source: volume, target: "/var/lib/app" }],
  });
  const container = await world.runtime.start(spec);
  expect(await container.exited).toMatchObject({ exitCode: 3 });
  expect(world.output()).toBe("web-0\nnameserver 127.96.0.10\n");
  expect(existsSync(join(volume, "data"))).toBe(true);
  expect(existsSync(join(world.root, "new"))).toBe(false);
});

run("a pod has the settings of the kernel that it asks for, and its host keeps its own", async () => {
  const world = new OciWorld();
  const files = ["/proc/sys/kernel/shm_rmid_forced", "/proc/sys/net/ipv4/ip_unprivileged_port_start"];
  const before = files.map((file) => readFileSync(file, "utf8"));
  const kernelSettings = [
    { path: "kernel/shm_rmid_forced", value: "1" },
    { path: "net/ipv4/ip_unprivileged_port_start", value: "81" },
  ];
  await world.sandbox("uid", { networkNamespace: true, kernelSettings });
  const container = await world.runtime.start(world.spec(["cat", ...files]));
  await container.exited;
  expect(world.output()).toBe("1\n81\n");
  expect(files.map((file) => readFileSync(file, "utf8"))).toEqual(before);
  const ofHost = world.sandbox("other", { kernelSettings });
  await expect(ofHost).rejects.toThrow("net/ipv4/ip_unprivileged_port_start cannot be set: the pod has the network");
});

run("a container reads its own limits, which change while it runs", async () => {
  const world = new OciWorld();
  if (world.runtime.cgroups.version === "none") return;
  await world.sandbox();
  const spec = world.spec(["sleep", "100"], {
    limits: { memoryBytes: 64 * mega, cpuMillis: 100, cpuRequestMillis: 50 },
  });
  const container = await world.runtime.start(spec);
  const [files, first, second] =
    world.runtime.cgroups.version === 1
      ? [
          "memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us cpu/cpu.shares",
          "67108864\n10000\n51\n",
          "134217728\n20000\n102\n",
        ]
      : ["memory.max cpu.max cpu.weight", "67108864\n10000 100000\n2\n", "134217728\n20000 100000\n4\n"];
  const read = (): Promise<string> => textOf(container.exec(["sh", "-c", `cd /sys/fs/cgroup && cat ${files}`]));
  expect(await read()).toBe(first);
  container.limit({ memoryBytes: 128 * mega, cpuMillis: 200, cpuRequestMillis: 100 });
  expect(await read()).toBe(second);
  container.limit({ memoryBytes: 64 * mega, cpuMillis: 100, cpuRequestMillis: 50 });
  expect(await read()).toBe(first);
  expect(await textOf(container.exec(["sh", "-c", "mkdir /sys/fs/cgroup/*/own || mkdir /sys/fs/cgroup/own"]))).toMatch(
    /Read-only|Permission|No such/,
  );
});

run("a program may move a file that its image has in the root, and the image keeps it", async () => {
  const world = new OciWorld();
  const file = join(world.root, "page");
  writeFileSync(file, "a page\n", { mode: 0o640 });
  await world.sandbox();
  const script =
    "test -O /page && cat /page && mkdir /other && cp /page /other/page && rm /page && echo new >/page && cat /page";
  const container = await world.runtime.start(world.spec(["sh", "-c", script]));
  expect((await container.exited).exitCode).toBe(0);
  expect(world.output()).toBe("a page\nnew\n");
  expect(readFileSync(file, "utf8")).toBe("a page\n");
});

run("SIGTERM reaches the main process, and destroy() leaves nothing behind", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const polite = await world.runtime.start(world.spec(["sh", "-c", "trap 'exit 5' TERM; sleep 100 & wait"]));
  let end: object | undefined;
  void polite.exited.then((exit) => (end = exit));
  // The first process of a container has no signal that ends it before its trap is there.
  const asked = (): object | undefined => (polite.signal("SIGTERM"), end);
  await expect.poll(asked, { timeout: 10_000 }).toMatchObject({ exitCode: 5 });
  const script = "trap '' TERM; sleep 100 & wait; sleep 100";
  const family = await world.runtime.start(world.spec(["sh", "-c", script], { id: "uid/family/0" }));
  family.destroy();
  expect((await family.exited).exitCode).toBe(137);
  expect(existsSync(`/proc/${family.pid}`)).toBe(false);
});

run("exec runs inside the container, as its user", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const container = await world.runtime.start(world.spec(["sleep", "100"], { runAsUser: 1000 }));
  const shell = container.exec(["sh", "-c", "id -u; hostname; cat; exit 7"]);
  let text = "";
  shell.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  shell.stdin.end("typed");
  expect(await shell.exited).toEqual({ exitCode: 7 });
  expect(text).toBe("1000\nweb-0\ntyped");
});

run("a command has a terminal of the size that its client has, and follows a new one", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const container = await world.runtime.start(world.spec(["sleep", "100"]));
  // crun starts the command and sends its terminal at the same time.
  const untilSized = 'until [ "$(stty size)" = "33 91" ]; do sleep 0.05; done';
  const script = `${untilSized}; trap 'stty size; exit 7' WINCH; ls -l /proc/self/fd/0; while :; do sleep 0.05; done`;
  const shell = container.exec(["sh", "-c", script], { tty: true });
  shell.resize({ columns: 91, rows: 33 });
  let text = "";
  shell.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await expect.poll(() => text, { timeout: 10_000 }).toMatch(/-> \/dev\/pts\/0\r\n$/);
  shell.resize({ columns: 120, rows: 40 });
  expect(await shell.exited).toEqual({ exitCode: 7 });
  expect(text).toMatch(/\r\n40 120\r\n$/);
});

run("Ctrl-C in a terminal interrupts the command, and a paste of 300 kB arrives whole", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const container = await world.runtime.start(world.spec(["sleep", "100"]));
  const waits = container.exec(["sh", "-c", "trap 'echo interrupted; exit 9' INT; echo up; sleep 100"], { tty: true });
  let text = "";
  waits.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await expect.poll(() => text, { timeout: 10_000 }).toContain("up");
  waits.stdin.write("\u0003");
  expect(await waits.exited).toEqual({ exitCode: 9 });
  expect(text).toBe("up\r\n^Cinterrupted\r\n");
  const pasted = Array.from({ length: 30_000 }, (_, i) => `${String(i).padStart(9, "0")}\n`).join("");
  // Without an echo, which the kernel may write in the middle of a line of the command.
  const script = "stty -echo; echo ready; head -n 30000";
  const reads = container.exec(["sh", "-c", script], { tty: true });
  let lines = "";
  reads.stdout.on("data", (chunk: Buffer) => (lines += chunk.toString()));
  await expect.poll(() => lines, { timeout: 10_000 }).toBe("ready\r\n");
  reads.stdin.write(pasted);
  expect(await reads.exited).toEqual({ exitCode: 0 });
  expect(lines).toBe(`ready\n${pasted}`.replaceAll("\n", "\r\n"));
});

run("attach gives the output from now on, and the input of the container's own process", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const script = "echo before; read line; echo got $line; echo err >&2; read line; echo and $line; exit 5";
  const container = await world.runtime.start(world.spec(["sh", "-c", script], { stdin: "open" }));
  await expect.poll(() => world.output(), { timeout: 10_000 }).toBe("before\n");
  const first = container.attach({ stdin: true });
  first.stdin.end("one\n");
  let text = "";
  first.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  first.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await expect.poll(() => text, { timeout: 10_000 }).toBe("got one\nerr\n");
  first.kill();
  const second = container.attach({ stdin: true });
  second.stdin.write("two\n");
  expect(await textOf(second)).toBe("and two\n");
  expect(await container.exited).toMatchObject({ exitCode: 5 });
});

run("the input of a container with stdinOnce ends with that of its first client", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const script = "wc -c; cat";
  const container = await world.runtime.start(world.spec(["sh", "-c", script], { stdin: "once" }));
  const client = container.attach({ stdin: true });
  client.stdin.end(Buffer.alloc(1_000_000, "x"));
  expect(await textOf(client)).toBe("1000000\n");
  expect(await container.exited).toMatchObject({ exitCode: 0 });
});

run("a container with a terminal has one of the size that its client has", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const script = 'trap "stty size; exit" WINCH; test -t 0 && echo terminal; while :; do sleep 0.05; done';
  const container = await world.runtime.start(world.spec(["sh", "-c", script], { stdin: "once", tty: true }));
  await expect.poll(() => world.output(), { timeout: 10_000 }).toMatch(/^terminal\r?\n/);
  const client = container.attach({ stdin: true });
  client.resize({ rows: 33, columns: 91 });
  await container.exited;
  expect(world.output()).toMatch(/33 91/);
});

run("of two sizes that come at once, the last one counts", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const script = 'test -t 0 && echo terminal; until [ "$(stty size)" = "33 91" ]; do sleep 0.05; done';
  const container = await world.runtime.start(world.spec(["sh", "-c", script], { stdin: "once", tty: true }));
  await expect.poll(() => world.output(), { timeout: 10_000 }).toMatch(/^terminal\r?\n/);
  const client = container.attach({ stdin: true });
  const monitor = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${container.pid}/status`, "utf8"))?.[1]);
  // So it reads both at once.
  process.kill(monitor, "SIGSTOP");
  client.resize({ rows: 34, columns: 92 });
  client.resize({ rows: 33, columns: 91 });
  process.kill(monitor, "SIGCONT");
  expect(await container.exited).toMatchObject({ exitCode: 0 });
});

run("a container that joins another one's processes sees them", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const target = await world.runtime.start(world.spec(["sleep", "4321"]));
  const spec = world.spec(["cat", "/proc/1/cmdline"], { id: "uid/debugger/0", joinedProcess: target.pid });
  const debuggerContainer = await world.runtime.start(spec);
  expect(await debuggerContainer.exited).toMatchObject({ exitCode: 0 });
  expect(world.output("debugger")).toMatch(/^sleep.4321/);
  expect(isRunning(target.pid)).toBe(true);
});

run("a client of a terminal that goes away ends its command", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const container = await world.runtime.start(world.spec(["sleep", "100"]));
  const seconds = String(20_000_000 + process.pid);
  const hanging = container.exec(["sh", "-c", `echo up; sleep ${seconds}`], { tty: true });
  await new Promise((resolve) => hanging.stdout.once("data", resolve));
  hanging.kill();
  expect((await hanging.exited).exitCode).toBe(137);
  await expect
    .poll(() => execFileSync("ps", ["-eo", "args="]).toString(), { timeout: 10_000 })
    .not.toContain(`sleep ${seconds}`);
});

run("a command that is given up leaves no process", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const container = await world.runtime.start(world.spec(["sleep", "100"]));
  // Its own number, because another test may run on this machine at the same time.
  const seconds = String(10_000_000 + process.pid);
  const hanging = container.exec(["sh", "-c", `echo up; sleep ${seconds}`]);
  await new Promise((resolve) => hanging.stdout.once("data", resolve));
  hanging.kill();
  expect((await hanging.exited).exitCode).toBe(137);
  await expect
    .poll(() => execFileSync("ps", ["-eo", "args="]).toString(), { timeout: 10_000 })
    .not.toContain(`sleep ${seconds}`);
  expect(existsSync(`/proc/${container.pid}`)).toBe(true);
});

run("a container sees new text in its own files", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const files = { "/etc/hosts": "a long first line\n" };
  const container = await world.runtime.start(world.spec(["sleep", "100"], { files }));
  container.updateFiles({ "/etc/hosts": "short\n", "/etc/unknown": "x" });
  expect(await textOf(container.exec(["sh", "-c", "cat /etc/hosts; ls /etc"]))).toBe("short\nhosts\n");
});

run("a program that the image lacks is refused with its name", async () => {
  const world = new OciWorld();
  await world.sandbox();
  await expect(world.runtime.start(world.spec(["nosuch"]))).rejects.toThrow(
    'exec: "nosuch": executable file not found',
  );
});

run("a container goes on without its agent, and the next agent has its output, its end and its commands", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const script = "echo before; while ! cat /tmp/go 2>/dev/null; do sleep 0.05; done; echo after; exit 9";
  const first = await world.runtime.start(world.spec(["sh", "-c", script]));
  const second = world.agent();
  expect(await second.adoptSandbox("uid")).toMatchObject({ podUid: "uid" });
  const adopted = await second.adopt("uid", "main");
  expect(adopted).toMatchObject({ attempt: 0, running: { pid: first.pid } });
  expect(await adopted?.running?.exec(["sh", "-c", "echo gone > /tmp/go"]).exited).toEqual({ exitCode: 0 });
  expect(await adopted?.running?.exited).toMatchObject({ exitCode: 9 });
  expect(world.output()).toBe("before\ngone\nafter\n");
});

run("how a container ended while no agent was there is known to the next one", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const container = await world.runtime.start(world.spec(["sh", "-c", "exit 4"]));
  await container.exited;
  expect(await world.agent().adopt("uid", "main")).toMatchObject({ attempt: 0, exit: { exitCode: 4 } });
});

run("a pod's processes, groups and files are gone when its sandbox is removed", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const { holderPid } = (await world.runtime.adoptSandbox("uid")) ?? { holderPid: 0 };
  const container = await world.runtime.start(world.spec(["sleep", "100"]));
  await world.runtime.removeSandbox("uid");
  await expect.poll(() => [isRunning(container.pid), isRunning(holderPid)]).toEqual([false, false]);
  expect(world.runtime.sandboxUids()).toEqual([]);
  expect(execFileSync("ps", ["-eo", "args="]).toString()).not.toContain(world.directory);
});

run.each([0, 2, 5, 10, 20, 40, 80])(
  "a container that has been in the making for %i ms leaves nothing when its pod is removed",
  async (afterMs) => {
    const world = new OciWorld();
    await world.sandbox();
    const ends = ["first", "second", "third"].map((name) => {
      const start = world.runtime.start(world.spec(["sleep", "100"], { id: `uid/${name}/0` }));
      return start.then(
        () => "started",
        () => "refused",
      );
    });
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await world.runtime.removeSandbox("uid");
    expect(execFileSync("ps", ["-eo", "args="]).toString()).not.toContain(world.directory);
    expect(world.runtime.sandboxUids()).toEqual([]);
    await Promise.all(ends);
    expect(execFileSync("ps", ["-eo", "args="]).toString()).not.toContain(world.directory);
    expect(world.runtime.sandboxUids()).toEqual([]);
    expect(world.runtime.cgroups.podUids()).toEqual([]);
  },
);

run("a tool that is still at work on a container, and names it alone, ends with the pod", async () => {
  const world = new OciWorld();
  await world.sandbox();
  const args = ["--root", join(world.directory, "sandboxes/.crun"), "start", "uid_main_0"];
  const tool = spawn("sh", ["-c", "while :; do sleep 0.1; done", "crun", ...args], { stdio: "ignore" });
  const ended = once(tool, "exit");
  const other = spawn("sh", ["-c", "while :; do sleep 0.1; done", "crun", ...args.slice(0, 3), "other_main_0"]);
  await world.runtime.removeSandbox("uid");
  await ended;
  expect(other.exitCode ?? other.signalCode).toBe(null);
  other.kill("SIGKILL");
});

run(
  "a container that has no record, because its agent was killed while it was made, ends with the next agent",
  async () => {
    const world = new OciWorld();
    await world.sandbox();
    const container = await world.runtime.start(world.spec(["sleep", "100"]));
    rmSync(join(world.directory, "sandboxes/uid/main/0/container.json"));
    expect(await world.agent().adopt("uid", "main")).toBeUndefined();
    await expect.poll(() => isRunning(container.pid)).toBe(false);
    await expect
      .poll(() => execFileSync("ps", ["-eo", "args="]).toString())
      .not.toContain(join(world.directory, "sandboxes/uid/main"));
  },
);

run("a pod of which only its groups are left is known, and removed", async () => {
  const world = new OciWorld();
  if (world.runtime.cgroups.version === "none") return;
  await world.sandbox();
  await world.runtime.start(world.spec(["sleep", "100"]));
  rmSync(join(world.directory, "sandboxes/uid"), { recursive: true });
  const next = world.agent();
  expect(next.sandboxUids()).toEqual(["uid"]);
  await next.removeSandbox("uid");
  expect(next.sandboxUids()).toEqual([]);
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

run("a program that uses more memory than it may is ended, and that is known", async () => {
  const world = new OciWorld();
  if (world.runtime.cgroups.version === "none") return;
  await world.sandbox();
  const limits = { memoryBytes: 32 * 1024 * 1024 };
  const hog = await world.runtime.start(world.spec(["tail", "/dev/zero"], { limits }));
  expect(await hog.exited).toMatchObject({ exitCode: 137, oomKilled: true });
});

const asRoot = test.skipIf(missingTools !== "" || process.getuid?.() !== 0);

asRoot("a privileged container has the users, devices and kernel files of the host", async () => {
  const world = new OciWorld();
  await world.sandbox("uid", { host: { ipc: false, pid: false } });
  const security = { capabilities: [], noNewPrivileges: true, isPrivileged: true, seccomp: "default" } as const;
  const script =
    "cat /proc/self/uid_map | { read -r a b c; echo $a $b $c; }; ls /sys/fs; hostname; cat /proc/self/status; ls /dev";
  const spec = world.spec(["sh", "-c", script], { security: { ...security, supplementalGroups: [] } });
  await (
    await world.runtime.start(spec)
  ).exited;
  const text = world.output();
  expect(text).toMatch(/^0 0 4294967295\n/);
  expect(text).toContain("cgroup");
  expect(text).toContain("\nweb-0\n");
  const held = /CapBnd:\s*\w+/.exec(readFileSync("/proc/self/status", "utf8"))?.[0];
  expect(text).toContain(held?.replace(/CapBnd:\s*/, "CapEff:\t"));
  expect(text).toMatch(/Seccomp:\s*0/);
});

asRoot("a pod with the processes of the host sees them, and its end takes all of its own along", async () => {
  const world = new OciWorld();
  await world.sandbox("uid", { host: { ipc: true, pid: true } });
  const seconds = String(20_000_000 + process.pid);
  const script = `cat /proc/${process.pid}/comm; sleep ${seconds} & echo up; sleep 100`;
  const container = await world.runtime.start(world.spec(["sh", "-c", script]));
  await expect.poll(() => world.output()).toContain("up");
  expect(world.output()).toContain(readFileSync(`/proc/${process.pid}/comm`, "utf8").trim());
  container.destroy();
  await container.exited;
  await world.runtime.removeSandbox("uid");
  await expect.poll(() => execFileSync("ps", ["-eo", "args="]).toString()).not.toContain(`sleep ${seconds}`);
});

asRoot("a pod joins the network of its node", async () => {
  const world = new OciWorld();
  const holder = spawn("unshare", ["--net", "sleep", "1000"]);
  onTestFinished(() => void holder.kill());
  const own = readlinkSync("/proc/self/ns/net");
  const network = (): string => readlinkSync(`/proc/${holder.pid}/ns/net`);
  await expect.poll(network).not.toBe(own);
  await world.sandbox("uid", { host: { ipc: false, pid: false }, networkOf: holder.pid ?? 0 });
  const container = await world.runtime.start(world.spec(["sleep", "100"]));
  expect(readlinkSync(`/proc/${container.pid}/ns/net`)).toBe(network());
});
