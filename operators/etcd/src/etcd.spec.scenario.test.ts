/**
 * Every field of an EtcdCluster is changed, removed, set to its bounds and to what it must not be, and taken
 * back.
 */
import { minutes } from "setpoint";
import { specLaws } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdSetting } from "./testing/etcd-setting.ts";

const atCreation = "for members that start from then on; the README says so";
const whenLoose = "it counts when its time has come, or when etcd's file has free pages";
const whenFull = "it counts when the data fill a volume";
const atStart = "whether a cluster has TLS is decided at its first start; a running one refuses another mode";
const atRenewal = "for certificates that are issued from then on";
const whenSlow = "it counts when a disk is slow; no disk is in this world";
const whenLost = "it counts when a majority is lost";
const whenChanged = "it counts when another field changes";
const preference = {
  weight: 1,
  preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["fast"] }] },
};
const fields = ["labels", "annotations"];

/** Some hundred worlds; each new field of the spec adds a few. */
const timeout = minutes(5);

test(
  "every field of the spec has an effect or a reason, is reached from anywhere, and can be taken back",
  { timeout },
  async () => {
    const report = await specLaws(etcdSetting, {
      kind: EtcdCluster,
      base: EtcdCluster({
        name: "orders",
        spec: {
          size: 3,
          version: "3.4.23",
          volumeClaimTemplate: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      }),
      seed: 7,
      samples: {
        // The model of etcd takes a stop of all members for a fault of the operator.
        "spec.hibernated": [false],
        "spec.version": ["3.5.16"],
        "spec.plan": ["small"],
        "spec.auth.enabled": [true],
        "spec.pod.resources.requests": [{ memory: "64Mi" }],
        "spec.pod.resources.limits": [{ memory: "640Mi" }],
        "spec.pod.nodeSelector": [{ disk: "fast" }],
        "spec.pod.affinity": [{ nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preference] } }],
        "spec.pod.tolerations": [[{ key: "disk", operator: "Exists" }]],
        "spec.pod.env": [[{ name: "GOGC", value: "50" }]],
      },
      ignored: {
        ...Object.fromEntries(fields.map((field) => [`spec.pod.${field}`, atCreation])),
        "spec.imageRepository": atCreation,
        "spec.maintenance.defragmentation.schedule": whenLoose,
        "spec.maintenance.defragmentation.whenFreePercent": whenLoose,
        "spec.maintenance.defragmentation.minDbSizeMiB": whenLoose,
        "spec.maintenance.volumeGrowth": whenFull,
        "spec.maintenance.volumeGrowth.whenUsedPercent": whenFull,
        "spec.maintenance.volumeGrowth.step": whenFull,
        "spec.maintenance.volumeGrowth.max": whenFull,
        "spec.tls.mode": atStart,
        "spec.tls.certificateLifetime": atRenewal,
        "spec.tls.authorityLifetime": atRenewal,
        "spec.healing.slowDisk": whenSlow,
        "spec.tuning": "it counts when members are far from each other",
        "spec.healing.slowDiskMilliseconds": whenSlow,
        "spec.healing.slowDiskSeconds": whenSlow,
        "spec.quorumRecovery.policy": whenLost,
        "spec.quorumRecovery.fencingSeconds": whenLost,
        "spec.quorumRecovery.withoutCopy": whenLost,
        "spec.quorumRecovery.keepCopySeconds": whenLost,
        "spec.fencing.allowQuorumLoss": "it counts when fencing would end the quorum",
        "spec.maintenanceWindows": whenChanged,
        "spec.dryRun": whenChanged,
        "spec.hibernated": "its scenario is etcd.hibernation.scenario.test.ts",
        "spec.options": "they become arguments of pods, which may differ here",
      },
      historical: {
        "spec.paused": "a cluster that was never started stays so",
        "spec.dryRun": "a dry run leaves a new cluster without a PodDisruptionBudget",
      },
      mayDiffer: [
        "Pod.metadata.annotations",
        "Pod.spec.containers.*.args",
        "Pod.spec.containers.*.image",
        // The members with which it was started.
        "EtcdCluster.status.initialMembers",
        // The password of root is random.
        "Secret.data.password",
      ],
      withinMs: 120_000,
    });
    expect(report.exercised).toEqual(report.fields);
    expect(report.operations).toBeGreaterThan(30);
  },
);
