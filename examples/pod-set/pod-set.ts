/** A PodSet keeps a number of equal pods: a ReplicaSet in one function. */
import { Pod } from "setpoint/kinds";
import { age, controller, defineKind, defineOperator } from "setpoint";
import { z } from "zod";

export const PodSet = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "PodSet",
  shortNames: ["ps"],
  spec: z.object({ image: z.string(), replicas: z.int().min(0).max(100).default(1) }),
  status: z.object({ replicas: z.int(), podNames: z.array(z.string()) }),
  scale: { specReplicas: "replicas", statusReplicas: "replicas" },
  printerColumns: { Desired: "spec.replicas", Current: "status.replicas", Age: age() },
});

/**
 * Each pod has a number, and so a name of its own. A stale cache may hide a pod, but creating it again is
 * refused: there are never more pods than replicas.
 */
export const podSets = controller(PodSet, {
  owns: { pods: Pod },
  desired: ({ metadata, spec }, { pods }) => ({
    children: Array.from({ length: spec.replicas }, (_, number) =>
      Pod({ name: `${metadata.name}-${number}`, spec: { containers: [{ name: "main", image: spec.image }] } }),
    ),
    status: { replicas: pods.length, podNames: pods.map((pod) => pod.metadata.name).toSorted() },
  }),
});

export default defineOperator({ name: "pod-set", controllers: [podSets] });
