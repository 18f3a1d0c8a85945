import type { Pod, PodStatus } from "@setpoint/api";
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { silentLogger, sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { debianCatalogue } from "../images/debian-catalogue.ts";
import { createImageCatalog } from "../images/image-catalog.ts";
import { ImageStore } from "../images/image-store.ts";
import { fixedNetwork } from "../network/fixed-network.fixture.ts";
import type { PodParts } from "./pod-parts.ts";
import { PodWorker } from "./pod-worker.ts";
import { logFile } from "../logs/container-log.ts";
import { OciRuntime } from "../sandbox/oci-runtime.ts";
import { volumeOwner } from "../volumes/volume-owner.ts";

const directory = mkdtempSync(join(tmpdir(), "process-node-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const cache = process.env["XDG_CACHE_HOME"] ?? join(process.env["HOME"] ?? directory, ".cache");

const missing = ["crun", "conmon", "mmdebstrap"].filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
const reason = missing.length === 0 ? "" : ` (skipped: not installed: ${missing.join(", ")})`;

test.skipIf(reason !== "")(
  `a pod of etcd runs from its description${reason}`,
  async () => {
    const statuses: PodStatus[] = [];
    const events: string[] = [];
    const volume = join(directory, "data");
    mkdirSync(volume);
    const catalog = createImageCatalog(debianCatalogue);
    const parts: PodParts = {
      clock: systemClock,
      log: silentLogger,
      nodeName: "n1",
      cpus: 2,
      memoryBytes: 2 ** 30,
      runtime: new OciRuntime({
        clock: systemClock,
        directory: join(directory, "sandboxes"),
        idsFile: join(directory, "ids.json"),
        version: "test",
        logFile: (...run) => logFile(join(directory, "pods", run[0]), run[1], run[2]),
      }),
      images: new ImageStore({
        clock: systemClock,
        log: silentLogger,
        directory: join(cache, "setpoint", "images"),
        catalog,
      }),
      network: fixedNetwork("127.79.0.1", "127.79.0.2"),
      volumes: {
        async prepare(it, sandbox) {
          const owner = sandbox && volumeOwner(sandbox, it);
          if (owner !== undefined) chownSync(volume, owner.uid, owner.gid);
          return new Map([["data", { source: volume, readOnly: false }]]);
        },
        refresh: async () => {},
        empty: async () => {},
        remove: async () => {},
      },
      objects: {
        dataReader: async () => () => undefined,
        services: () => [],
        pullSecrets: async () => ({ found: [], missing: [] }),
      },
      reports: {
        writeStatus: async (_, status) => void statuses.push(status),
        removePod: async () => {},
        event: (_, _type, reason, message) => void events.push(`${reason} ${message}`),
      },
      hostFiles: () => ({ "/etc/hosts": "127.0.0.1 localhost\n" }),
      podDirectory: (uid) => join(directory, "pods", uid),
    };
    const pod: Pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "e", namespace: "default", uid: "u1" },
      spec: {
        volumes: [{ name: "data", emptyDir: {} }],
        containers: [
          {
            name: "etcd",
            image: "quay.io/coreos/etcd:v3.5.16",
            env: [{ name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
            command: [
              "etcd",
              "--data-dir=/var/lib/etcd",
              "--listen-client-urls=http://$(IP):2379",
              "--advertise-client-urls=http://$(IP):2379",
              "--listen-peer-urls=http://$(IP):2380",
            ],
            volumeMounts: [{ name: "data", mountPath: "/var/lib/etcd" }],
            readinessProbe: { httpGet: { path: "/health", port: 2379 }, periodSeconds: 1 },
          },
        ],
      },
    };
    const worker = new PodWorker(pod, parts);
    for (let i = 0; i < 600 && statuses.at(-1)?.containerStatuses?.[0]?.ready !== true; i++)
      await sleep(systemClock, 100);
    expect(statuses.at(-1)).toMatchObject({
      phase: "Running",
      podIP: "127.79.0.2",
      containerStatuses: [{ ready: true, restartCount: 0 }],
    });
    process.kill(worker.container("etcd")?.running?.pid ?? 0, "SIGKILL");
    for (let i = 0; i < 100 && statuses.at(-1)?.containerStatuses?.[0]?.restartCount !== 1; i++)
      await sleep(systemClock, 100);
    expect(statuses.at(-1)?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 137, signal: 9 } },
    });
    worker.update({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 },
    });
    await worker.settled();
    expect(worker.isDone).toBe(true);
    expect(statuses.at(-1)?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: expect.any(Number) });
    expect(events.map((event) => event.split(" ")[0])).toContain("Pulled");
  },
  120_000,
);
