/** Thanos: the fields of its sidecar, and how its servers prove themselves. */
import type { PodSpec } from "setpoint/kinds";
import { preserved } from "setpoint/kinds";
import { z } from "zod";
import { tls } from "./http-client.ts";
import { flag, open, type Read, text, texts } from "./open-object.ts";
import { keySelector } from "./references.ts";

type ContainerFields = PodSpec["containers"][number];

/** Files of the pod, by which a server of Thanos serves gRPC. */
export const grpcServerTls = open({ ...tls.shape, cipherSuites: texts, curves: texts });

export const thanosSidecar = open({
  image: text,
  version: text.describe("The version of Thanos; it chooses the image and what the command line may have."),
  baseImage: text,
  tag: text,
  sha: text,
  resources: preserved<NonNullable<ContainerFields["resources"]>>().optional(),
  objectStorageConfig: keySelector.optional().describe("Where blocks are uploaded; none are when absent."),
  objectStorageConfigFile: text,
  listenLocal: flag,
  grpcListenLocal: flag,
  httpListenLocal: flag,
  tracingConfig: keySelector.optional(),
  tracingConfigFile: text,
  grpcServerTlsConfig: grpcServerTls.optional(),
  logLevel: text,
  logFormat: text,
  minTime: text,
  blockSize: text,
  readyTimeout: text,
  getConfigInterval: text,
  getConfigTimeout: text,
  volumeMounts: z.array(preserved<NonNullable<ContainerFields["volumeMounts"]>[number]>()).optional(),
  additionalArgs: z.array(open({ name: z.string(), value: text })).optional(),
});

export type GrpcServerTls = Read<typeof grpcServerTls>;
export type ThanosSidecar = Read<typeof thanosSidecar>;
