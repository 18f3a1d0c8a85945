import type { Logger } from "@setpoint/host";
import type { ImageStore } from "../images/image-store.ts";
import { missingTools } from "../sandbox/required-tools.ts";
import type { FolderProvisioner } from "../volumes/folder-provisioner.ts";
import type { PodManager } from "../workers/pod-manager.ts";
import type { ClusterServices } from "./cluster-services.ts";
import type { HousekeepingTask } from "./housekeeping.ts";
import type { NodeFolders } from "./node-folders.ts";
import { type NodeRegistration, readyMessage } from "./node-registration.ts";
import { PodEvictions } from "./pod-evictions.ts";

export interface NodeTasksOptions {
  readonly log: Logger;
  readonly folders: NodeFolders;
  readonly images: ImageStore;
  readonly pods: PodManager;
  readonly provisioner: FolderProvisioner;
  readonly registration: NodeRegistration;
  readonly services: ClusterServices;
}

/** Renews tokens and configuration, beside the changes that the informers report. */
const housekeepingMs = 15_000;
/** Another node of this machine has ended: its addresses are free within this time. */
const takeOverMs = 2_000;
/** Between two rotations conmon bounds the logs. */
const logRotationMs = 5_000;
const healthMs = 5_000;

/** What a node does from time to time. */
export function nodeTasks(options: NodeTasksOptions): readonly HousekeepingTask[] {
  const { log, folders, images, pods, provisioner, registration, services } = options;
  const evictions = new PodEvictions({
    log,
    directory: folders.directory,
    podDirectory: (uid) => folders.pod(uid),
    memoryDirectory: (uid) => folders.podMemory(uid),
    setDiskPressure: (hasDiskPressure) => registration.setHealth({ hasDiskPressure }),
  });
  return [
    {
      periodMs: housekeepingMs,
      async run() {
        pods.wake();
        await provisioner.reclaim();
        await images.keepHouse();
      },
    },
    { periodMs: takeOverMs, run: () => services.retry() },
    {
      periodMs: healthMs,
      async run() {
        const problem = missingTools();
        registration.setHealth({ ready: problem === undefined, message: problem ?? readyMessage });
        await evictions.check(pods.workers());
      },
    },
    { periodMs: logRotationMs, run: async () => pods.rotateLogs() },
  ];
}
