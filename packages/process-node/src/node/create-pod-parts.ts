import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { NodeEvents } from "../cluster/node-events.ts";
import { podIdentity } from "../cluster/pod.ts";
import type { HostFacts } from "../host/host-facts.ts";
import type { ImageStore } from "../images/image-store.ts";
import { podHostFiles } from "../network/pod-host-files.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import type { ContainerRuntime } from "../sandbox/container-runtime.ts";
import type { FolderProvisioner } from "../volumes/folder-provisioner.ts";
import type { VolumeImages } from "../volumes/image-volume.ts";
import { NodeVolumes } from "../volumes/node-volumes.ts";
import type { PodVolumes } from "../volumes/pod-volumes.ts";
import { createPodTokens } from "../volumes/token-source.ts";
import { podFacts } from "../workers/container-description.ts";
import type { PodParts } from "../workers/pod-parts.ts";
import type { ClusterServices } from "./cluster-services.ts";
import type { NodeFolders } from "./node-folders.ts";
import { createPodObjects } from "./pod-objects.ts";
import { createPodReports } from "./pod-reports.ts";
import type { ReferencedObjects } from "./referenced-objects.ts";

export interface PodPartsOptions {
  readonly client: Client;
  readonly host: Host;
  readonly nodeName: string;
  readonly allowHost: boolean;
  readonly facts: HostFacts;
  readonly events: NodeEvents;
  readonly folders: NodeFolders;
  readonly runtime: ContainerRuntime;
  readonly network: PodNetwork;
  readonly services: ClusterServices;
  readonly referenced: ReferencedObjects;
  readonly provisioner: FolderProvisioner;
  readonly images: ImageStore;
}

/** What the pod workers of this node share. */
export function createPodParts(options: PodPartsOptions): PodParts {
  const { client, events, facts, folders, host, images, network, nodeName, referenced, runtime, services } = options;
  const objects = createPodObjects(referenced, services.table, services.proxy);
  const volumeImages: VolumeImages = {
    has: (name) => images.has(name),
    ensure: (name, request) => images.ensure(name, request),
    pullSecrets: async (pod) => (await objects.pullSecrets(pod)).found,
  };
  return {
    clock: host.clock,
    log: host.log,
    nodeName,
    allowHost: options.allowHost,
    cpus: facts.cpus,
    memoryBytes: facts.memoryBytes,
    runtime,
    images,
    network,
    podDirectory: (uid) => folders.pod(uid),
    volumes: createVolumes(options, volumeImages),
    objects,
    reports: createPodReports(client, events),
    hostFiles(pod, podIP) {
      const { dnsAddress, table } = services;
      return podHostFiles(pod, { podIP, table, nodeName, ...(dnsAddress === undefined ? {} : { dnsAddress }) });
    },
  };
}

function createVolumes(options: PodPartsOptions, images: VolumeImages): PodVolumes {
  const { client, facts, folders, host, network, nodeName, provisioner, referenced } = options;
  const tokens = createPodTokens(host.clock, client);
  const volumes = new NodeVolumes({
    clock: host.clock,
    client,
    podDirectory: (uid) => folders.pod(uid),
    memoryDirectory: (uid) => folders.podMemory(uid),
    persistentDirectory: folders.volumes,
    allowHost: options.allowHost,
    images,
    sources(pod) {
      const { namespace, uid } = podIdentity(pod);
      return {
        pod,
        facts: podFacts({ ...facts, network, nodeName }, pod, network.addressOf(uid)),
        find: (kind, name) => referenced.find(uid, kind, namespace, name),
        token: (source) => tokens.token(pod, source),
      };
    },
    forget(uid) {
      referenced.forget(uid);
      tokens.forget(uid);
    },
  });
  return {
    async prepare(pod, ids) {
      await provisioner.provision(pod);
      return volumes.prepare(pod, ids);
    },
    refresh: (pod) => volumes.refresh(pod),
    empty: (uid) => volumes.empty(uid),
    remove: (uid) => volumes.remove(uid),
  };
}
