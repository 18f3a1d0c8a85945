/**
 * A pod makes the system calls that exploits of kernels begin with. Arguments are such that nothing happens
 * where one works.
 */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady, missingForPods, TestCluster, until } from "../node/test-cluster.ts";
import { perlImage } from "../node/tools-image.ts";

const reason =
  missingForPods() || (process.arch === "x64" ? "" : "the numbers of system calls here are those of x86-64");
let cluster: TestCluster;
let parts: AsyncDisposableStack;

beforeAll(async () => {
  if (reason !== "") return;
  await using stack = new AsyncDisposableStack();
  cluster = stack.use(await TestCluster.start(1));
  await cluster.apply(pods.map((name) => podYaml(name, name === "unfiltered" ? unfiltered : "{}")).join("---"));
  for (const name of pods) await cluster.pod(name, isReady, 240);
  parts = stack.move();
}, 300_000);

afterAll(() => parts?.disposeAsync());

const pods = ["plain", "unfiltered"];

/** As much as a pod can have: every capability but the one that this node refuses, and no filter. */
const unfiltered =
  "{ seccompProfile: { type: Unconfined }, capabilities: { add: [DAC_READ_SEARCH, NET_ADMIN, SYS_BOOT, SYS_CHROOT, SYS_MODULE, SYS_PTRACE, SYS_RAWIO, SYS_RESOURCE] } }";

function podYaml(name: string, securityContext: string): string {
  return `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: ${perlImage}
    command: [sleep, "100000"]
    securityContext: ${securityContext}
`;
}

const [notPermitted, notImplemented] = [1, 38];

/**
 * Number and arguments; a call that the kernel itself would refuse with another error got past the filter.
 */
const calls: Readonly<Record<string, string>> = {
  keyctl: "250, 0, -3, 0, 0, 0",
  add_key: "248, $u, $s, $s, 1, -3",
  request_key: "249, $u, $s, 0, 0",
  bpf: "321, 0, 0, 0",
  userfaultfd: "323, 0",
  io_uring_setup: "425, 1, 0",
  perf_event_open: "298, 0, 0, -1, -1, 0",
  kexec_load: "246, 0, 0, 0, 0",
  init_module: "175, 0, 0, $s",
  finit_module: "313, -1, $s, 0",
  delete_module: "176, $s, 0",
  open_by_handle_at: "304, -1, 0, 0",
  mount: "165, 0, 0, 0, 0, 0",
  umount2: "166, $n, 0",
  fsopen: "430, $s, 0",
  move_mount: "429, -1, $s, -1, $s, 0",
  open_tree: "428, -1, $s, 0",
  pivot_root: "155, $n, $n",
  setns: "308, -1, 0",
  unshare_user: "272, 0x10000000",
  clone_user: "56, 0x10000000, 0, 0, 0, 0",
  clone3: "435, 0, 0",
  iopl: "172, 3",
  ioperm: "173, 0, 1, 1",
  swapon: "167, $n, 0",
  reboot: "169, 0, 0, 0, 0",
  acct: "163, $n",
  settimeofday: "164, 0, 0",
  quotactl: "179, 0, $n, 0, 0",
  uselib: "134, $n",
  syslog: "103, 10, 0, 0",
  nfsservctl: "180, 0, 0, 0",
  af_alg: "41, 38, 5, 0",
  af_vsock: "41, 40, 1, 0",
};

/** What each call answered, by name. */
async function errnos(pod: string, names: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const each = names.map((name) => `$! = 0; syscall(${calls[name]}); print "${name} ", 0+$!, "\\n";`);
  // Perl wants variables where the kernel might write.
  const script = `my ($u, $s, $n) = ("user", "setpoint", "/nosuch/file"); ${each.join(" ")}`;
  const { stdout } = await cluster.exec(pod, ["perl", "-e", script]);
  const lines = stdout.trim().split("\n");
  return Object.fromEntries(lines.map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]));
}

test.skipIf(reason)(`a pod cannot make calls that exploits begin with ${reason}`, async () => {
  const answers = await errnos("plain", Object.keys(calls));
  for (const name of Object.keys(calls)) expect([notPermitted, notImplemented], name).toContain(answers[name]);
});

test.skipIf(reason)(`an unfiltered pod cannot change its image, which other pods run ${reason}`, async () => {
  const mounts = "for m in /usr /bin /lib; do busybox mount -o remount,rw,bind $m; done";
  const script = `${mounts}; touch /usr/canary && echo WRITTEN; busybox unshare -Urm sh -c "${mounts}; busybox umount /usr; touch /usr/canary && echo WRITTEN INSIDE"`;
  const { stdout } = await cluster.exec("unfiltered", ["sh", "-c", `(${script}) 2>/dev/null; true`]);
  await cluster.exec("unfiltered", ["busybox", "rm", "-f", "/usr/canary"]);
  expect(stdout).toBe("");
});

test.skipIf(reason)(`an unfiltered pod has no keys of the node's session ${reason}`, async () => {
  const names = ["add_key", "keyctl", "request_key"];
  const answers = await errnos("unfiltered", names);
  for (const name of names) expect(answers[name], name).toBe(notPermitted);
});

test.skipIf(reason)(`an unfiltered pod cannot make namespaces ${reason}`, async () => {
  const script = "for each in U Um Un Up; do busybox unshare -$each true && echo MADE $each; done; true";
  expect((await cluster.exec("unfiltered", ["sh", "-c", `{ ${script}; } 2>/dev/null`])).stdout).toBe("");
});

/** One more entry of a table of the kernel; leaves the loop where there is none. */
const tables: Readonly<Record<string, string>> = {
  "inotify instances": "last if syscall(294, 0) < 0;",
  "message queues": 'my $name = "queue$n"; last if syscall(240, $name, 0102, 0600, 0) < 0;',
};

test.skipIf(reason).for(Object.keys(tables))(
  `a pod that takes all %s that there are for it leaves some to other pods and to the host ${reason}`,
  async (name) => {
    const take = (most: number, then: string): readonly string[] => [
      "perl",
      "-e",
      `my $n = 0; while ($n < ${most}) { ${tables[name]} $n++ } ${then}`,
    ];
    const greedy = cluster.exec("plain", take(200_000, `open F, ">/tmp/${name}"; print F $n; close F; sleep 8;`));
    await until(`the pod has all ${name}`, 20, async () => {
      const { stdout } = await cluster.exec("plain", ["sh", "-c", `cat "/tmp/${name}" 2>/dev/null; true`]);
      return Number(stdout) > 1 ? true : undefined;
    });
    expect((await cluster.exec("unfiltered", take(1, "print $n;"))).stdout).toBe("1");
    // On the host, as the agent's user.
    execFileSync(process.execPath, ["-e", "require('node:fs').watch('/').close()"]);
    await greedy;
  },
);

test.skipIf(reason)(`leaving a second root leads nowhere else ${reason}`, async () => {
  const script =
    'mkdir "/tmp/in"; chroot("/tmp/in") or die; chdir("..") for 1..64; chroot("."); print join " ", sort glob "/*";';
  const { stdout } = await cluster.exec("plain", ["perl", "-e", script]);
  expect(stdout).not.toMatch(/lost\+found|\/boot|old_root/);
});

test.skipIf(reason)(
  `a filter cannot be left by running a program of another architecture's numbers ${reason}`,
  async () => {
    // The x32 numbers of keyctl and mount: the kernel ends who calls them.
    for (const call of ["0x40000000 + 250, 0, -3", "0x40000000 + 165, 0, 0, 0, 0, 0"]) {
      const { stdout } = await cluster.exec("plain", ["perl", "-e", `$! = 0; syscall(${call}); print 0+$!;`]);
      expect(["", String(notPermitted), String(notImplemented)]).toContain(stdout);
    }
  },
);

test.skipIf(reason)(`no process outside of the pod can be traced, read or taken over ${reason}`, async () => {
  const script =
    'for my $p (1..4000) { $! = 0; my $fd = syscall(434, $p, 0); print "$p " if $fd >= 0 && ! -d "/proc/$p"; } print \'x\';';
  const { stdout } = await cluster.exec("plain", ["perl", "-e", script]);
  expect(stdout).toBe("x");
});
