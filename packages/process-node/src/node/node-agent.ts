/** The assembly of a node: chooses the parts, connects them to the API, starts and ends them in order. */
import { EndpointSlice, Pod, Service } from "@setpoint/api";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isConflict, isNotFound } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { Host, Timer } from "@setpoint/host";
import { EventRecorder } from "@setpoint/runtime";
import { rememberNetwork, removeAbandonedNodes, sandboxesFolder } from "./abandoned-nodes.ts";
import { KindInformer } from "../cluster/kind-informer.ts";
import { createNodeClient } from "../cluster/node-client.ts";
import { createNodeEvents, type NodeEvents, nodeReference } from "../cluster/node-events.ts";
import { NodeRegistration, readyMessage } from "./node-registration.ts";
import { createPodObjects } from "./pod-objects.ts";
import { ReferencedObjects } from "./referenced-objects.ts";
import { podFacts } from "../workers/container-description.ts";
import type { ContainerRuntime } from "../sandbox/container-runtime.ts";
import { lockDirectory } from "../host/directory-lock.ts";
import { readHostFacts } from "../host/host-facts.ts";
import { debianCatalogue } from "../images/debian-catalogue.ts";
import { createImageCatalog } from "../images/image-catalog.ts";
import { ImageStore } from "../images/image-store.ts";
import { RequestAccess } from "../kubelet/request-access.ts";
import { KubeletServer } from "../kubelet/kubelet-server.ts";
import { logFile } from "../logs/container-log.ts";
import { ClusterDns } from "../network/cluster-dns.ts";
import { createNodeNetwork, type NodeNetwork } from "../network/node-network.ts";
import { type NodeDnsState, serveDns } from "../network/node-dns.ts";
import { reportDns, reportService } from "../network/network-reports.ts";
import { endUnusedNamespace } from "../network/unused-namespace.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import { podHostFiles } from "../network/pod-host-files.ts";
import { ServiceProxy } from "../network/service-proxy.ts";
import { createServiceTable } from "../network/service-table.ts";
import type { NodeAgent, NodeOptions } from "./node-options.ts";
import { PodEvictions } from "./pod-evictions.ts";
import { PodManager } from "../workers/pod-manager.ts";
import type { PodParts, PodReports } from "../workers/pod-parts.ts";
import { podIdentity } from "../cluster/pod.ts";
import { missingTools, requireTools } from "../sandbox/host-tools.ts";
import { OciRuntime } from "../sandbox/oci-runtime.ts";
import { identify } from "../host/process-identity.ts";
import { preparePrivateFolder } from "../host/private-folder.ts";
import { createFolderProvisioner } from "../volumes/folder-provisioner.ts";
import { prepareMemoryFolder, removeMemory } from "../volumes/memory-folder.ts";
import { unmountBeneath } from "../volumes/memory-volume.ts";
import { NodeVolumes } from "../volumes/node-volumes.ts";
import { removeTree } from "../volumes/remove-tree.ts";
import { createPodTokens } from "../volumes/token-source.ts";

export const kubeletPort = 10_250;
export const clusterDnsAddress = "127.96.0.10";
/** Tokens, config and volumes without owner are looked at this often, besides the changes that are noticed. */
const housekeepingMs = 15_000;
/** Addresses that another node of this machine served are free when it has ended. */
const takeOverMs = 2_000;
/** Logs are looked at this often; between two looks conmon bounds them. */
const logRotationMs = 5_000;
/** What the node reports of itself, and what pods use of its disk, is looked at this often. */
const healthMs = 5_000;
/** How long containers may take to end with their agent. */
const shutdownGraceMs = 10_000;

/** What lies in them is for this node alone, and no business of the host's other users. */
const privateFolders = ["", "pods", "volumes"];

/** Registers a node and runs its pods until it is disposed. */
export async function startNode(options: NodeOptions): Promise<NodeAgent> {
  await using stack = new AsyncDisposableStack();
  const { name, directory } = options;
  const log = options.host.log.with({ node: name });
  const host: Host = { ...options.host, log };
  const { clock } = host;
  const lock = await lockDirectory(directory, clock);
  stack.defer(() => lock.release());
  for (const folder of privateFolders) preparePrivateFolder(join(directory, folder));
  const client = createNodeClient(options.transport, host);
  const podDirectory = (uid: string): string => join(directory, "pods", uid);
  await removeAbandonedNodes(clock, log);
  const memory = prepareMemoryFolder(directory);
  const { podNetwork } = options;
  const networkHolder = podNetwork === undefined ? undefined : identify(podNetwork.namespace.holderPid);
  if (networkHolder !== undefined) rememberNetwork(memory, networkHolder);
  let isHandedOver = false;
  stack.defer(() => {
    if (isHandedOver) return;
    removeMemory(memory);
  });
  const runtime = stack.use(
    new OciRuntime({
      clock,
      directory: sandboxesFolder(memory),
      idsFile: join(directory, "id-ranges.json"),
      version: requireTools(),
      logFile: (uid, container, attempt) => logFile(podDirectory(uid), container, attempt),
    }),
  );
  const memoryDirectory = (uid: string): string => join(memory, "pods", uid);
  const persistentDirectory = join(directory, "volumes");
  const port = options.kubeletPort ?? kubeletPort;

  const { tls, caPem: clientCaPem } = options;
  const access = new RequestAccess(clock, client, name);
  const kubelet = stack.use(
    new KubeletServer({
      clock,
      log,
      tls,
      clientCaPem,
      podDirectory,
      access,
      findPod: (...pod) => pods.find(...pod),
      connect: (...to) => network.connect(...to),
    }),
  );
  const nodeNetwork: NodeNetwork = stack.use(
    await createNodeNetwork({
      host,
      nodeName: name,
      podNetwork,
      addresses: {
        ...(options.podCidr === undefined ? {} : { podCidr: options.podCidr }),
        file: join(directory, "network.json"),
        claim: (address) => kubelet.listen(address, port),
      },
      services: () => table,
      pods: () => pods.pods(),
    }),
  );
  const { network } = nodeNetwork;

  const onChange = (): void => servicesLater();
  const services = stack.use(new KindInformer({ client, host, kind: Service, onChange }));
  const slices = stack.use(new KindInformer({ client, host, kind: EndpointSlice, onChange }));
  const table = createServiceTable(
    () => services.values(),
    () => slices.values(),
  );
  const recorder = new EventRecorder(client, host, name);
  const events = createNodeEvents(recorder);
  const proxy = stack.use(new ServiceProxy(table, (problem) => reportService(log, events, problem), nodeNetwork.proxy));
  const dnsAddress = options.clusterDnsAddress ?? clusterDnsAddress;
  const dns = stack.use(new ClusterDns(table, clock, nodeNetwork.dnsSockets));
  let dnsState: NodeDnsState = { isServed: false };
  const updateDns = async (): Promise<void> => {
    const before = dnsState;
    dnsState = await serveDns(dns, table, { address: dnsAddress, isOurs: network.kind === "namespace" });
    if (dnsState.problem === before.problem) return;
    if (dnsState.problem !== undefined) reportDns(log, events, name, dnsAddress, dnsState.problem);
    else log.info("Cluster DNS is served", { address: dnsAddress });
  };

  const referenced = stack.use(new ReferencedObjects({ client, host, onChange: (uids) => pods.wake(uids) }));
  const tokens = createPodTokens(clock, client);
  const provisioner = createFolderProvisioner({ client, log, nodeName: name, directory: persistentDirectory });
  const facts = readHostFacts(directory);
  const volumes = new NodeVolumes({
    clock,
    client,
    podDirectory,
    memoryDirectory,
    persistentDirectory,
    sources: (pod) => ({
      pod,
      facts: podFacts(parts, pod, network.addressOf(podIdentity(pod).uid)),
      find: (kind, object) => referenced.find(podIdentity(pod).uid, kind, podIdentity(pod).namespace, object),
      token: (source) => tokens.token(pod, source),
    }),
    forget(uid) {
      referenced.forget(uid);
      tokens.forget(uid);
    },
  });
  const images = new ImageStore({
    clock,
    log,
    directory: options.imageCache ?? join(directory, "images"),
    catalog: createImageCatalog(debianCatalogue, options.localImages),
    ...(options.mirror === undefined ? {} : { mirror: options.mirror }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
  const parts: PodParts = {
    clock,
    log,
    nodeName: name,
    cpus: facts.cpus,
    memoryBytes: facts.memoryBytes,
    runtime,
    images,
    network,
    podDirectory,
    volumes: {
      async prepare(pod, sandbox) {
        await provisioner.provision(pod);
        return volumes.prepare(pod, sandbox);
      },
      refresh: (pod) => volumes.refresh(pod),
      empty: (uid) => volumes.empty(uid),
      remove: (uid) => volumes.remove(uid),
    },
    objects: createPodObjects(referenced, table, proxy),
    reports: podReports(client, (...event) => events.record(...event)),
    hostFiles: (pod, podIP) =>
      podHostFiles(pod, {
        podIP,
        table,
        ...(dnsState.isServed ? { dnsAddress } : {}),
      }),
  };
  const pods = new PodManager(parts);
  let areServicesDue = false;
  const servicesLater = (): void => {
    if (areServicesDue) return;
    areServicesDue = true;
    clock.defer(() => {
      areServicesDue = false;
      proxy.update();
      nodeNetwork.update();
      // Without DNS the names of Services stand in files of the pods.
      if (!dnsState.isServed) pods.wake();
    });
  };

  const registration = new NodeRegistration({
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
  });
  stack.use(registration);
  await registration.register();
  events.record(nodeReference(name), "Normal", "Starting", "Starting kubelet.");
  const { problem } = runtime.cgroups;
  if (problem !== undefined) {
    const sentence = `Limits of CPU are not enforced and limits of memory hold for each process, because ${problem}`;
    events.record(nodeReference(name), "Warning", "LimitsNotEnforced", sentence);
    options.onNotice?.(`Node "${name}": ${sentence}`);
  }
  const obstacle = await runtime.problem();
  if (obstacle !== undefined) {
    events.record(nodeReference(name), "Warning", "PodsCannotRun", obstacle);
    options.onNotice?.(`Node "${name}": ${obstacle}`);
  }
  await Promise.all([services.synced, slices.synced, nodeNetwork.synced]);
  proxy.update();
  await updateDns();
  // Containers end before the node says good-bye and the services go.
  stack.defer(async () => {
    if (isHandedOver) return pods.leave();
    await pods.stop(shutdownGraceMs);
    // What no pod of the API knows of any more: nothing may outlive a node that is stopped.
    for (const uid of runtime.sandboxUids()) await runtime.removeSandbox(uid);
    await recorder.flushed();
  });
  const podInformer = stack.use(
    new KindInformer({
      client,
      host,
      kind: Pod,
      selector: { fieldSelector: `spec.nodeName=${name}` },
      onChange: (pod, before) => pods.changed(pod, before),
    }),
  );
  await podInformer.synced;
  network.retain(pods.uids());
  // Pods that were deleted while no agent ran left their processes and folders.
  await removeStrangePods(runtime, network, pods.uids());
  for (const folder of [join(directory, "pods"), join(memory, "pods")]) await removeStrangers(folder, pods.uids());
  const keepHouse = async (): Promise<void> => {
    pods.wake();
    await provisioner.reclaim();
    await images.keepHouse();
  };
  const takeOver = async (): Promise<void> => {
    proxy.retry();
    await updateDns();
  };
  stack.defer(repeat(options, housekeepingMs, keepHouse));
  stack.defer(repeat(options, takeOverMs, takeOver));
  const evictions = new PodEvictions({
    log,
    directory,
    podDirectory,
    memoryDirectory,
    setDiskPressure: (hasDiskPressure) => registration.setHealth({ hasDiskPressure }),
  });
  const checkHealth = async (): Promise<void> => {
    const problem = missingTools();
    registration.setHealth({ ready: problem === undefined, message: problem ?? readyMessage });
    await evictions.check(pods.workers());
  };
  stack.defer(repeat(options, healthMs, checkHealth));
  stack.defer(repeat(options, logRotationMs, async () => pods.rotateLogs()));
  const servedNames = dnsState.isServed ? dnsAddress : "hosts files";
  log.info("Node started", { address: network.nodeAddress, pods: network.podCidr, dns: servedNames });
  const owned = stack.move();
  const handOver = async (): Promise<void> => {
    isHandedOver = true;
    registration.leave();
    await owned.disposeAsync();
  };
  const abandon = async (): Promise<void> => {
    await owned.disposeAsync();
    if (networkHolder !== undefined) endUnusedNamespace(networkHolder);
  };
  const wanted: NodeAgent["wanted"] = (signal) => lock.offer(signal);
  return createAgent({ name, address: network.nodeAddress, kubeletPort: port, wanted, handOver, abandon }, pods, owned);
}

async function removeStrangePods(
  runtime: ContainerRuntime,
  network: PodNetwork,
  known: ReadonlySet<string>,
): Promise<void> {
  for (const uid of runtime.sandboxUids().filter((each) => !known.has(each))) {
    await network.detach(uid).catch(() => {
      // Its interface goes with its namespace in any case.
    });
    await runtime.removeSandbox(uid);
    runtime.releaseIds(uid);
  }
}

async function removeStrangers(folder: string, uids: ReadonlySet<string>): Promise<void> {
  const present = existsSync(folder) ? readdirSync(folder) : [];
  for (const uid of present.filter((each) => !uids.has(each))) {
    unmountBeneath(join(folder, uid));
    await removeTree(join(folder, uid));
  }
}

function createAgent(
  facts: Pick<NodeAgent, "name" | "address" | "kubeletPort" | "wanted" | "handOver" | "abandon">,
  pods: PodManager,
  stack: AsyncDisposableStack,
): NodeAgent {
  return {
    ...facts,
    processOf(namespace, pod, container) {
      const running = pods.find(namespace, pod)?.container(container)?.running;
      return running === undefined
        ? undefined
        : {
            pid: running.pid,
            sandboxPid: running.sandboxPid,
          };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function podReports(client: Client, record: NodeEvents["record"]): PodReports {
  return {
    async writeStatus(pod, status) {
      const { namespace, name, uid } = podIdentity(pod);
      try {
        // The UID makes it a conflict when a namesake has taken the name.
        await client.patch(Pod, { namespace, name }, { metadata: { uid }, status }, { subresource: "status" });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
    async removePod(pod) {
      const { namespace, name, uid } = podIdentity(pod);
      try {
        await client.delete(Pod, { namespace, name }, { preconditions: { uid }, gracePeriodSeconds: 0 });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
    event: (pod, type, reason, message, container) =>
      record(pod, type, reason, message, container === undefined ? undefined : `spec.containers{${container}}`),
  };
}

/** Does something again and again, `periodMs` after it was done; returns what ends it. */
function repeat({ host }: NodeOptions, periodMs: number, task: () => Promise<void>): () => Promise<void> {
  let timer: Timer | undefined;
  let isOver = false;
  let running: Promise<void> = Promise.resolve();
  const schedule = (): void => {
    if (isOver) return;
    timer = host.clock.setTimer(() => {
      running = task()
        .catch((error: unknown) => host.log.warn("Housekeeping was cut short", { error }))
        .finally(schedule);
    }, periodMs);
  };
  schedule();
  return async () => {
    isOver = true;
    timer?.cancel();
    await running;
  };
}
