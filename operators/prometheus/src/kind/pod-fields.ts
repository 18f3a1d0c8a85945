/** The fields of a server's pods that the kinds have in common. */
import { podMetadata, preserved } from "setpoint/kinds";
import type { PersistentVolumeClaimSpec, PodSpec } from "setpoint/kinds";
import { z } from "zod";
import { count, flag, open, type Read, text, textMap, texts } from "./open-object.ts";

type PodField<Name extends keyof PodSpec> = NonNullable<PodSpec[Name]>;

/** Where a server keeps its data. */
export const storage = open({
  disableMountSubPath: flag,
  emptyDir: preserved().optional(),
  ephemeral: preserved().optional(),
  volumeClaimTemplate: open({
    metadata: open({ name: text, labels: textMap, annotations: textMap }).optional(),
    spec: preserved<PersistentVolumeClaimSpec>().optional(),
  }).optional(),
});

export const podFields = {
  image: text,
  baseImage: text,
  tag: text,
  sha: text,
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
  imagePullSecrets: z.array(preserved<PodField<"imagePullSecrets">[number]>()).optional(),
  podMetadata: podMetadata().optional(),
  logLevel: text,
  logFormat: text,
  enableFeatures: texts,
  externalUrl: text,
  routePrefix: text,
  listenLocal: flag,
  portName: z.string().default("web"),
  additionalArgs: z.array(open({ name: z.string(), value: text })).optional(),
  volumes: z.array(preserved<PodField<"volumes">[number]>()).optional(),
  volumeMounts: z.array(preserved<NonNullable<PodSpec["containers"][number]["volumeMounts"]>[number]>()).optional(),
  persistentVolumeClaimRetentionPolicy: preserved().optional(),
  resources: preserved<NonNullable<PodSpec["containers"][number]["resources"]>>().optional(),
  nodeSelector: textMap,
  schedulerName: text,
  automountServiceAccountToken: flag,
  secrets: texts,
  configMaps: texts,
  affinity: preserved<PodField<"affinity">>().optional(),
  tolerations: z.array(preserved<PodField<"tolerations">[number]>()).optional(),
  topologySpreadConstraints: z.array(preserved<PodField<"topologySpreadConstraints">[number]>()).optional(),
  securityContext: preserved<PodField<"securityContext">>().optional(),
  dnsPolicy: z.enum(["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]).optional(),
  dnsConfig: preserved<PodField<"dnsConfig">>().optional(),
  podManagementPolicy: z.enum(["OrderedReady", "Parallel"]).optional(),
  updateStrategy: preserved().optional(),
  enableServiceLinks: flag,
  containers: z.array(preserved<PodSpec["containers"][number]>()).optional(),
  initContainers: z.array(preserved<PodField<"initContainers">[number]>()).optional(),
  priorityClassName: text,
  minReadySeconds: count,
  hostAliases: z.array(preserved<PodField<"hostAliases">[number]>()).optional(),
  hostNetwork: flag,
  hostUsers: flag,
  serviceName: text,
  terminationGracePeriodSeconds: count,
};

const pods = open({ ...podFields, storage: storage.optional() });

/** What of a spec says where and how pods run. */
export type PodFields = Read<typeof pods>;
