import { Pod } from "setpoint/kinds";
import { optionsIn } from "../kind/allowed-options.ts";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import type { PinnedImages } from "../kind/related-images.ts";
import { memberImage, versionAnnotation } from "./member-image.ts";
import { templateHash } from "./member-template.ts";
import { defaultsBeside } from "./option-defaults.ts";
import { tunedOptions } from "./tuned-options.ts";
import {
  clientPort,
  clientUrl,
  labels,
  metricsPort,
  peerPort,
  peerUrl,
  schemeOf,
  volumeName,
} from "../kind/member-names.ts";
import { speaksTls, tlsArguments, tlsMounts, tlsVariables, tlsVolumes } from "./tls.ts";

const dataPath = "/var/lib/etcd";
/** etcd hands over its leadership on SIGTERM, which may take seconds when it is the last one. */
const graceSeconds = 10;
/** The user of members: any but root, and the same in each version, because it owns the data. */
const user = 65_532;

/** What the PodSecurity level `restricted` requires of a pod; its volumes are readable by the group. */
const podSecurity = {
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  fsGroup: user,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
} as const;

/** etcd writes to its volume and nowhere else. */
const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
} as const;

export interface MemberPodOptions {
  readonly member: string;
  readonly version: string;
  /** Names of the members that etcd gets at its first start; ignored once it has data. */
  readonly initialCluster: readonly string[];
  readonly state: "new" | "existing";
  readonly pinnedImages: PinnedImages;
  /** The pod's loopback address is its own: a forwarded port ends there. */
  readonly hasLoopback: boolean;
  /** The IDs of the authorities that the member trusts from its start. */
  readonly trusts?: readonly string[] | undefined;
}

/**
 * The pod of one member. It is never restarted by its node (`restartPolicy: Never`): whether a member that
 * died may come back or must be replaced is the operator's decision. Only an upgrade restarts it in place, by
 * a change of its image.
 */
export function memberPod(cluster: EtcdCluster, options: MemberPodOptions): Pod {
  const { name = "", namespace = "" } = cluster.metadata;
  const { pod } = cluster.spec;
  const isSecure = schemeOf(cluster) === "https";
  return Pod({
    name: options.member,
    namespace,
    labels: memberLabels(cluster, options.member),
    annotations: annotationsOf(cluster, options),
    spec: {
      hostname: options.member,
      subdomain: name,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: graceSeconds,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: podSecurity,
      topologySpreadConstraints: spread(name),
      ...(pod?.nodeSelector === undefined ? {} : { nodeSelector: pod.nodeSelector }),
      ...(pod?.affinity === undefined ? {} : { affinity: pod.affinity }),
      ...(pod?.tolerations === undefined ? {} : { tolerations: pod.tolerations }),
      volumes: [dataVolume(cluster, options.member), ...(isSecure ? tlsVolumes(cluster) : [])],
      containers: [
        {
          name: "etcd",
          image: memberImage(cluster, options.version, options.pinnedImages),
          imagePullPolicy: "IfNotPresent",
          command: ["etcd"],
          args: etcdArguments(cluster, options),
          env: [
            { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
            { name: "ETCDCTL_API", value: "3" },
            {
              name: "ETCDCTL_ENDPOINTS",
              value: isSecure ? clientUrl(options.member, cluster) : `http://$(POD_IP):${clientPort}`,
            },
            ...(isSecure ? tlsVariables() : []),
            ...(pod?.env ?? []),
          ],
          ports: [
            { name: "client", containerPort: clientPort },
            { name: "peer", containerPort: peerPort },
            { name: "metrics", containerPort: metricsPort },
          ],
          ...(pod?.resources === undefined ? {} : { resources: pod.resources }),
          volumeMounts: [{ name: "data", mountPath: dataPath }, ...(isSecure ? tlsMounts() : [])],
          readinessProbe: {
            // Without space for more writes a member still serves reads. Nodes have no certificate; the port
            // of metrics answers the same question without.
            httpGet: { path: "/health?exclude=NOSPACE", port: isSecure ? metricsPort : clientPort },
            periodSeconds: 1,
            timeoutSeconds: 2,
            failureThreshold: 3,
          },
          securityContext: containerSecurity,
          terminationMessagePolicy: "FallbackToLogsOnError",
        },
      ],
    },
    // The API types are stricter than free-form parts of the spec (affinity, tolerations), which the server
    // checks.
  } as Parameters<typeof Pod>[0]);
}

/** Over zones, then over nodes, as far as there are some. */
function spread(cluster: string): readonly object[] {
  return ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: { [labels.cluster]: cluster } },
  }));
}

function annotationsOf(
  cluster: EtcdCluster,
  { version, trusts = [] }: MemberPodOptions,
): Readonly<Record<string, string>> {
  const own = {
    ...cluster.spec.pod?.annotations,
    [labels.template]: templateHash(cluster),
    ...restartAnnotation(cluster),
    ...versionAnnotation(version),
  };
  return trusts.length === 0 ? own : { ...own, [labels.trusts]: trusts.join(",") };
}

/** The request for a restart that the pod has followed by being new. */
function restartAnnotation({ metadata }: EtcdCluster): Readonly<Record<string, string>> {
  const request = metadata.annotations?.[labels.restart];
  return request === undefined ? {} : { [labels.restart]: request };
}

/** The user's labels, and those by which Services and people find the pod. */
export function memberLabels(cluster: EtcdCluster, member: string): Readonly<Record<string, string>> {
  return { ...cluster.spec.pod?.labels, [labels.cluster]: cluster.metadata.name ?? "", [labels.member]: member };
}

function dataVolume(cluster: EtcdCluster, member: string): object {
  if (cluster.spec.volumeClaimTemplate === undefined) return { name: "data", emptyDir: {} };
  return { name: "data", persistentVolumeClaim: { claimName: volumeName(member) } };
}

function etcdArguments(cluster: EtcdCluster, options: MemberPodOptions): readonly string[] {
  const { uid = "" } = cluster.metadata;
  const { member, initialCluster, state } = options;
  const scheme = schemeOf(cluster);
  const own: Record<string, string> = {
    name: member,
    "data-dir": `${dataPath}/member-data`,
    "listen-peer-urls": `${scheme}://$(POD_IP):${peerPort}`,
    "listen-client-urls": listenUrls(scheme, clientPort, options),
    "listen-metrics-urls": listenUrls("http", metricsPort, options),
    "initial-advertise-peer-urls": peerUrl(member, cluster),
    "advertise-client-urls": clientUrl(member, cluster),
    "initial-cluster": initialCluster.map((each) => `${each}=${peerUrl(each, cluster)}`).join(","),
    "initial-cluster-state": state,
    "initial-cluster-token": uid,
    ...(scheme === "https" ? tlsArguments() : {}),
  };
  const chosen = optionsIn(options.version, cluster.spec.options ?? {});
  return Object.entries({ ...defaultsBeside(chosen), ...tunedOptions(cluster), ...chosen, ...own }).map(
    ([option, value]) => `--${option}=${value}`,
  );
}

function listenUrls(scheme: string, port: number, { hasLoopback }: MemberPodOptions): string {
  return ["$(POD_IP)", ...(hasLoopback ? ["127.0.0.1"] : [])].map((host) => `${scheme}://${host}:${port}`).join(",");
}

/** Where a member serves its metrics. */
export function metricsEndpoint(pod: Pod): string | undefined {
  const ip = pod.status?.podIP;
  return ip === undefined || ip === "" ? undefined : `http://${ip}:${metricsPort}`;
}

/** Where the operator reaches a member: the pod's own address, which needs no DNS. */
export function memberEndpoint(pod: Pod): string | undefined {
  const ip = pod.status?.podIP;
  return ip === undefined || ip === "" ? undefined : `${speaksTls(pod) ? "https" : "http"}://${ip}:${clientPort}`;
}
