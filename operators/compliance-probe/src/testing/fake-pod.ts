/** A pod for tables: everything is refused, unless the row says otherwise. Only tests import this. */
import type { PodFiles, ProbedPod } from "../acts/probed-pod.ts";

/** What a row changes. */
export interface FakePod extends Partial<Omit<ProbedPod, "files">> {
  readonly files?: Partial<PodFiles>;
}

export function refusal(code: string): Error {
  return Object.assign(new Error(`${code}: refused`), { code });
}

const refuse = (): Promise<never> => Promise.reject(refusal("EACCES"));

const texts: Readonly<Record<string, string>> = {
  "/proc/self/status": "CapEff:\t0000000000000000\nNoNewPrivs:\t1\n",
  "/proc/self/uid_map": "0 0 4294967295\n",
  "/proc/1/comm": "node\n",
  "/sys/fs/cgroup/memory.max": "134217728\n",
  "/sys/fs/cgroup/cgroup.procs": "1\n",
};

const files: PodFiles = {
  read: async (path) => texts[path] ?? refuse(),
  list: async (path) => (path === "/proc" ? ["1", "self", "sys"] : refuse()),
  blockDevices: async () => [],
  open: refuse,
  create: refuse,
  remove: async () => {},
  connectToSocket: refuse,
};

const surroundings: ProbedPod["surroundings"] = {
  namespace: "shop",
  serviceAccount: "default",
  pod: "shop-run-1",
  node: "node-0",
  nodeAddress: "10.0.0.1",
  image: "probe:1",
  otherNamespace: "kube-system",
  deniedServices: ["vault.secret.svc:8200"],
};

export function fakePod({ files: others, ...rest }: FakePod = {}): ProbedPod {
  return {
    surroundings,
    userId: 65_532,
    scratch: "/scratch",
    api: async ({ path }) =>
      path.endsWith("selfsubjectaccessreviews")
        ? { code: 201, message: "", body: '{"status":{"allowed":false}}' }
        : { code: 403, message: "forbidden", body: "" },
    call: async () => ({ result: -1, error: "EPERM" }),
    fetch: () => Promise.reject(refusal("ECONNREFUSED")),
    resolve: () => Promise.reject(refusal("ENOTFOUND")),
    reach: () => Promise.reject(refusal("ETIMEDOUT")),
    startThreads: async () => 1_000,
    ...rest,
    files: { ...files, ...others },
  };
}

/** A pod that nothing protects. */
export const openPod: ProbedPod = fakePod({
  userId: 0,
  api: async () => ({ code: 200, message: "", body: '{"status":{"allowed": true}}' }),
  call: async () => ({ result: 0, error: undefined }),
  fetch: async () => ({ code: 200, message: "", body: "" }),
  resolve: async () => "10.96.0.9",
  reach: async () => {},
  startThreads: async (max) => max,
  files: {
    read: async (path) =>
      path.endsWith("/comm")
        ? "kubelet\n"
        : path === "/proc/self/status"
          ? "CapEff:\t000001ffffffffff\nNoNewPrivs:\t0\n"
          : path.endsWith("memory.max")
            ? "max\n"
            : (texts[path] ?? ""),
    list: async () => ["1"],
    blockDevices: async () => ["/dev/sda"],
    open: async () => {},
    create: async () => {},
    connectToSocket: async () => {},
  },
});
