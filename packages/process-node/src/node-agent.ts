/** The assembly of a node: chooses the parts, connects them to the API, starts and ends them in order. */
import { join } from "node:path";
import { isConflict, isNotFound } from "@setpoint/apimachinery";
import type { Timer } from "@setpoint/host";
import { type ClusterApi, createClusterApi } from "./cluster/cluster-api.ts";
import { createEventRecorder } from "./cluster/event-recorder.ts";
import { endpointSliceKind, podKind, serviceKind } from "./cluster/kinds.ts";
import { NodeRegistration } from "./cluster/node-registration.ts";
import { ObjectMirror } from "./cluster/object-mirror.ts";
import { ReferencedObjects } from "./cluster/referenced-objects.ts";
import { podFacts } from "./container-description.ts";
import { lockDirectory } from "./directory-lock.ts";
import { readHostFacts } from "./host-facts.ts";
import { debianCatalogue } from "./images/debian-catalogue.ts";
import { createImageCatalog } from "./images/image-catalog.ts";
import { ImageStore } from "./images/image-store.ts";
import { KubeletServer } from "./kubelet-server.ts";
import { ClusterDns } from "./network/cluster-dns.ts";
import { createLoopbackNetwork } from "./network/loopback-network.ts";
import { podHostFiles } from "./network/pod-host-files.ts";
import { ServiceProxy } from "./network/service-proxy.ts";
import { createServiceTable, hasClusterIp, type ServiceTable } from "./network/service-table.ts";
import type { NodeAgent, NodeOptions } from "./node-options.ts";
import { PodManager } from "./pod-manager.ts";
import type { PodObjects, PodParts, PodReports } from "./pod-parts.ts";
import type { DataReader, ServiceAddress } from "./pod/environment.ts";
import { type Pod, podIdentity } from "./pod/pod.ts";
import { BubblewrapRuntime } from "./sandbox/bubblewrap-runtime.ts";
import { createFolderProvisioner } from "./volumes/folder-provisioner.ts";
import { NodeVolumes } from "./volumes/node-volumes.ts";
import { createPodTokens } from "./volumes/token-source.ts";
import { decodeData } from "./volumes/volume-content.ts";

export const kubeletPort = 10_250;
export const clusterDnsAddress = "127.96.0.10";
/** Tokens, config and volumes without owner are looked at this often, besides the changes that are noticed. */
const housekeepingMs = 15_000;
/** How long containers may take to end with their agent. */
const shutdownGraceMs = 10_000;

/** Registers a node and runs its pods until it is disposed. */
export async function startNode(options: NodeOptions): Promise<NodeAgent> {
  await using stack = new AsyncDisposableStack();
  const { name, host, directory } = options;
  const { clock } = host;
  const log = host.log.with({ node: name });
  stack.defer(await lockDirectory(directory));
  const api = createClusterApi(options.transport);
  const runtime = new BubblewrapRuntime({ clock, directory: join(directory, "sandboxes") });
  const podDirectory = (uid: string): string => join(directory, "pods", uid);
  const port = options.kubeletPort ?? kubeletPort;

  const { tls, caPem: clientCaPem } = options;
  const kubelet = stack.use(
    new KubeletServer({ clock, log, tls, clientCaPem, podDirectory, findPod: (...pod) => pods.find(...pod) }),
  );
  const network = await createLoopbackNetwork({
    ...(options.podCidr === undefined ? {} : { podCidr: options.podCidr }),
    file: join(directory, "network.json"),
    claim: (address) => kubelet.listen(address, port),
  });

  const services = stack.use(new ObjectMirror({ api, clock, log, kind: serviceKind, onChange: () => proxyLater() }));
  const slices = stack.use(new ObjectMirror({ api, clock, log, kind: endpointSliceKind, onChange: () => {} }));
  const table = createServiceTable(
    () => services.values(),
    () => slices.values(),
  );
  const proxy = stack.use(new ServiceProxy(table, log));
  const dnsAddress = await startDns(stack, table, options);

  const referenced = stack.use(new ReferencedObjects({ api, clock, log, onChange: (uids) => pods.wake(uids) }));
  const tokens = createPodTokens(clock, api);
  const provisioner = createFolderProvisioner({ api, log, nodeName: name, directory: join(directory, "volumes") });
  const events = createEventRecorder({ ...host, log }, api, "kubelet", name);
  const facts = readHostFacts(directory);
  const volumes = new NodeVolumes({
    clock,
    api,
    podDirectory,
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
      async prepare(pod) {
        await provisioner.provision(pod);
        return volumes.prepare(pod);
      },
      refresh: (pod) => volumes.refresh(pod),
      remove: (uid) => volumes.remove(uid),
    },
    objects: podObjects(referenced, table),
    reports: podReports(api, (...event) => events.record(...event)),
    hostFiles: (pod, podIP) =>
      podHostFiles(pod, {
        podIP,
        table,
        ...(dnsAddress === undefined ? {} : { dnsAddress }),
      }),
  };
  const pods = new PodManager(parts);
  let isProxyDue = false;
  const proxyLater = (): void => {
    if (isProxyDue) return;
    isProxyDue = true;
    clock.defer(() => {
      isProxyDue = false;
      proxy.update();
    });
  };

  const registration = new NodeRegistration({
    api,
    clock,
    log,
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
  await Promise.all([services.synced, slices.synced]);
  proxy.update();
  // Containers end before the node says good-bye and the services go.
  stack.defer(async () => {
    await pods.stop(shutdownGraceMs);
    await events.flushed();
  });
  const mirror = stack.use(
    new ObjectMirror<Pod>({
      api,
      clock,
      log,
      kind: podKind,
      selector: { fieldSelector: `spec.nodeName=${name}` },
      onChange: (pod, before) => pods.changed(pod, before),
    }),
  );
  await mirror.synced;
  network.retain(pods.uids());
  stack.defer(startHousekeeping(options, pods, () => provisioner.reclaim()));
  log.info("Node started", { address: network.nodeAddress, pods: network.podCidr, dns: dnsAddress ?? "hosts files" });
  return createAgent(name, network.nodeAddress, port, pods, stack.move());
}

function createAgent(
  name: string,
  address: string,
  port: number,
  pods: PodManager,
  stack: AsyncDisposableStack,
): NodeAgent {
  return {
    name,
    address,
    kubeletPort: port,
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

/** The address of cluster DNS; undefined when it cannot listen, which is said once: pods then get hosts files. */
async function startDns(
  stack: AsyncDisposableStack,
  table: ServiceTable,
  options: NodeOptions,
): Promise<string | undefined> {
  const address = options.clusterDnsAddress ?? clusterDnsAddress;
  const dns = stack.use(new ClusterDns(table));
  const problem = await dns.listen(address);
  if (problem === undefined) return address;
  // Another node of this machine serves the same cluster's names.
  if (problem.includes("EADDRINUSE")) return address;
  options.host.log.warn("Cluster DNS cannot listen, so names stand in the hosts files of pods", { address, problem });
  return undefined;
}

function podObjects(referenced: ReferencedObjects, table: ServiceTable): PodObjects {
  return {
    async dataReader(pod) {
      const { namespace, uid } = podIdentity(pod);
      const data = new Map<string, Readonly<Record<string, string>>>();
      for (const { kind, name } of environmentReferences(pod)) {
        const object = await referenced.find(uid, kind, namespace, name);
        if (object === undefined) continue;
        const entries = [...decodeData(kind, object)].map(([key, bytes]) => [key, Buffer.from(bytes).toString("utf8")]);
        data.set(`${kind}/${name}`, Object.fromEntries(entries) as Record<string, string>);
      }
      const read: DataReader = (kind, name) => data.get(`${kind}/${name}`);
      return read;
    },
    services: (pod) => serviceAddresses(table, pod),
  };
}

/** The ConfigMaps and Secrets that the pod's variables come from. */
function environmentReferences(pod: Pod): { readonly kind: "ConfigMap" | "Secret"; readonly name: string }[] {
  return [...(pod.spec.initContainers ?? []), ...pod.spec.containers].flatMap(({ env = [], envFrom = [] }) => {
    const maps = [
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef),
      ...envFrom.map(({ configMapRef }) => configMapRef),
    ];
    const secrets = [
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef),
      ...envFrom.map(({ secretRef }) => secretRef),
    ];
    const named = (kind: "ConfigMap" | "Secret", references: readonly ({ readonly name?: string } | undefined)[]) =>
      references.flatMap((reference) => (reference === undefined ? [] : [{ kind, name: reference.name ?? "" }]));
    return [...named("ConfigMap", maps), ...named("Secret", secrets)];
  });
}

/** `kubernetes` always; those of the pod's own namespace unless it asked not to. */
function serviceAddresses(table: ServiceTable, pod: Pod): ServiceAddress[] {
  const { namespace } = podIdentity(pod);
  return [...table.services()].flatMap((service) => {
    const { name = "", namespace: at } = service.metadata;
    const isApi = at === "default" && name === "kubernetes";
    const isLinked = at === namespace && pod.spec.enableServiceLinks !== false;
    if (!hasClusterIp(service) || !(isApi || isLinked)) return [];
    return [{ name, clusterIP: service.spec.clusterIP ?? "", ports: service.spec.ports ?? [] }];
  });
}

type RecordEvent = (pod: Pod, type: "Normal" | "Warning", reason: string, message: string, fieldPath?: string) => void;

function podReports(api: ClusterApi, record: RecordEvent): PodReports {
  return {
    async writeStatus(pod, status) {
      const { namespace, name, uid } = podIdentity(pod);
      try {
        // The UID makes it a conflict when a namesake has taken the name.
        await api.patch(podKind, { namespace, name }, { metadata: { uid }, status }, "status");
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
    async removePod(pod) {
      const { namespace, name, uid } = podIdentity(pod);
      try {
        await api.delete(podKind, { namespace, name }, { uid, gracePeriodSeconds: 0 });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    },
    event: (pod, type, reason, message, container) =>
      record(pod, type, reason, message, container === undefined ? undefined : `spec.containers{${container}}`),
  };
}

/** Wakes all pods and reclaims volumes now and then; returns what ends it. */
function startHousekeeping({ host }: NodeOptions, pods: PodManager, reclaim: () => Promise<void>): () => Promise<void> {
  let timer: Timer | undefined;
  let isOver = false;
  let running: Promise<void> = Promise.resolve();
  const schedule = (): void => {
    if (isOver) return;
    timer = host.clock.setTimer(() => {
      pods.wake();
      running = reclaim()
        .catch((error: unknown) => host.log.warn("Volumes could not be reclaimed", { error }))
        .finally(schedule);
    }, housekeepingMs);
  };
  schedule();
  return async () => {
    isOver = true;
    timer?.cancel();
    await running;
  };
}
