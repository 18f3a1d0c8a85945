/** Starts the parts of a node in order, and stops them in the reverse order. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { EventRecorder } from "@setpoint/runtime";
import { createNodeClient } from "../cluster/node-client.ts";
import { createNodeEvents } from "../cluster/node-events.ts";
import { readHostFacts } from "../host/host-facts.ts";
import { identify } from "../host/process-identity.ts";
import { debianCatalogue } from "../images/debian-catalogue.ts";
import { createImageCatalog } from "../images/image-catalog.ts";
import { ImageStore } from "../images/image-store.ts";
import { RegistryImages } from "../images/registry/registry-images.ts";
import { KubeletServer, type KubeletServerOptions } from "../kubelet/kubelet-server.ts";
import { RequestAccess } from "../kubelet/request-access.ts";
import { statsSummary } from "../kubelet/stats-summary.ts";
import { logFile } from "../logs/container-log.ts";
import { createNodeNetwork, type NodeNetwork } from "../network/node-network.ts";
import { endUnusedNamespace } from "../network/unused-namespace.ts";
import { OciRuntime } from "../sandbox/oci-runtime.ts";
import { requireTools, runtimeVersion } from "../sandbox/required-tools.ts";
import { createFolderProvisioner } from "../volumes/folder-provisioner.ts";
import { PodManager } from "../workers/pod-manager.ts";
import { nodeNamespaceFile, sandboxesFolder } from "./abandoned-nodes.ts";
import { ClusterServices } from "./cluster-services.ts";
import { createPodParts } from "./create-pod-parts.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { NodeFolders } from "./node-folders.ts";
import type { NodeAgent, NodeOptions } from "./node-options.ts";
import { NodePods } from "./node-pods.ts";
import { NodeRegistration } from "./node-registration.ts";
import { nodeTasks } from "./node-tasks.ts";
import { ReferencedObjects } from "./referenced-objects.ts";
import { reportStart } from "./report-start.ts";

/** The port of the kubelet server of a node that names no other. */
export const kubeletPort = 10_250;
/** The address of cluster DNS of a node that names no other. */
export const clusterDnsAddress = "127.96.0.10";

/** Registers a node and runs its pods until the agent is disposed. */
export async function startNode(options: NodeOptions): Promise<NodeAgent> {
  await using parts = new AsyncDisposableStack();
  const { name, podNetwork, clusterDnsAddress: dnsAddress = clusterDnsAddress } = options;
  const port = options.kubeletPort ?? kubeletPort;
  const host: Host = { ...options.host, log: options.host.log.with({ node: name }) };
  const { clock, log } = host;
  const client = createNodeClient(options.transport, host);
  const recorder = new EventRecorder(client, host, name);
  const events = createNodeEvents(recorder);
  const networkHolder = podNetwork === undefined ? undefined : identify(podNetwork.namespace.holderPid);

  const folders = parts.use(await NodeFolders.open({ clock, log, directory: options.directory, networkHolder }));
  const runtime = parts.use(createRuntime(host, folders));
  const kubelet: KubeletServer = parts.use(
    createKubelet(options, host, client, folders, {
      findPod: (...pod) => pods.find(...pod),
      stats: () =>
        statsSummary({
          clock,
          nodeName: name,
          memoryBytes: facts.memoryBytes,
          workers: () => pods.workers(),
          usageOf: (run) => runtime.cgroups.usageOf(run),
        }),
      connectInside: (...to) => network.connectInside(...to),
    }),
  );
  const nodeNetwork: NodeNetwork = parts.use(
    await createNodeNetwork({
      host,
      nodeName: name,
      podNetwork,
      addresses: {
        ...(options.podCidr === undefined ? {} : { podCidr: options.podCidr }),
        firstBlock: createHash("sha256").update(folders.directory).digest().readUInt16BE(),
        file: join(folders.directory, "network.json"),
        claim: (address) => kubelet.listen(address, port),
      },
      services: () => services.table,
      dnsAddress,
      pods: () => pods.pods(),
      ...(options.allowHost === true && { nodeNamespaceFile: nodeNamespaceFile(folders.memory) }),
    }),
  );
  const { network } = nodeNetwork;
  const onHostsChange = (): void => pods.wake();
  const services = parts.use(
    new ClusterServices({ client, host, nodeName: name, events, nodeNetwork, dnsAddress, onHostsChange }),
  );
  const referenced = parts.use(new ReferencedObjects({ client, host, onChange: (uids) => pods.wake(uids) }));
  const provisioner = createFolderProvisioner({ client, log, nodeName: name, directory: folders.volumes });
  const images = createImages(options, host, folders);
  const facts = readHostFacts(folders.directory);
  const pods = new PodManager(
    createPodParts({
      ...{ client, events, facts, folders, host, images, network, nodeName: name },
      allowHost: options.allowHost ?? false,
      ...{ provisioner, referenced, runtime, services },
    }),
  );
  const registration = parts.use(
    new NodeRegistration({
      client,
      clock,
      log,
      onReturn: () => pods.reportAgain(),
      facts: {
        ...facts,
        name,
        address: network.nodeAddress,
        kubeletPort: port,
        podCidr: network.podCidr,
        runtimeVersion: `${runtime.name}://${runtime.version}`,
        kubeletVersion: options.kubeletVersion ?? "v1.36.0",
      },
    }),
  );
  await registration.register();
  await reportStart(name, runtime, events, options.onNotice);
  await nodeNetwork.synced;
  await services.start();
  const nodePods = parts.use(
    new NodePods({
      ...{ client, host, nodeName: name, folders, runtime, network, manager: pods, recorder },
      onChange: () => services.podsChanged(),
    }),
  );
  await nodePods.start();
  parts.use(startHousekeeping(host, nodeTasks({ log, folders, images, pods, provisioner, registration, services })));
  log.info("Started node", { address: network.nodeAddress, pods: network.podCidr, dns: services.dnsAddress ?? "" });

  const started = parts.move();
  return {
    name,
    address: network.hostAddress,
    kubeletPort: port,
    wanted: (signal) => folders.lock.offer(signal),
    async handOver() {
      for (const part of [nodePods, registration, folders]) part.handOver();
      await started.disposeAsync();
    },
    async abandon() {
      await started.disposeAsync();
      if (networkHolder !== undefined) endUnusedNamespace(networkHolder);
    },
    processOf(namespace, pod, container) {
      const running = pods.find(namespace, pod)?.container(container)?.running;
      return running && { pid: running.pid, sandboxPid: running.sandboxPid };
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

function createRuntime({ clock }: Host, folders: NodeFolders): OciRuntime {
  requireTools();
  return new OciRuntime({
    clock,
    directory: sandboxesFolder(folders.memory),
    idsFile: join(folders.directory, "id-ranges.json"),
    version: runtimeVersion(),
    logFile: (uid, container, attempt) => logFile(folders.pod(uid), container, attempt),
  });
}

function createKubelet(
  { name, tls, caPem: clientCaPem }: NodeOptions,
  { clock, log }: Host,
  client: Client,
  folders: NodeFolders,
  pods: Pick<KubeletServerOptions, "connectInside" | "findPod" | "stats">,
): KubeletServer {
  const access = new RequestAccess(clock, client, name);
  return new KubeletServer({ clock, log, tls, clientCaPem, access, podDirectory: (uid) => folders.pod(uid), ...pods });
}

function createImages(options: NodeOptions, { clock, log }: Host, folders: NodeFolders): ImageStore {
  const { fetch } = options;
  const directory = options.imageCache ?? join(folders.directory, "images");
  return new ImageStore({
    clock,
    log,
    directory,
    ...(fetch === undefined ? {} : { registries: new RegistryImages({ clock, directory, fetch }) }),
    catalog: createImageCatalog(debianCatalogue, options.localImages, options.ownImages),
    ...(options.mirror === undefined ? {} : { mirror: options.mirror }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
}
