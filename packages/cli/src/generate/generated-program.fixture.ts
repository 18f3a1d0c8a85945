/** A program that uses what is generated from the large CRDs. The test compiles both together. */
export const generatedProgram = `
import { controller, defineOperator, type Operator } from "setpoint";
import { DatabaseCluster, DatabaseClusterV1beta1, Kind2, type DatabaseClusterSpecPodTemplateSpecContainersItem } from "./generated.ts";

const container: DatabaseClusterSpecPodTemplateSpecContainersItem = {
  name: "db",
  ports: [{ containerPort: 5432, protocol: "TCP" }],
  resources: { limits: { cpu: 1, memory: "1Gi" } },
};
export const cluster: DatabaseCluster = DatabaseCluster({
  name: "orders",
  spec: {
    instances: 3,
    mode: null,
    "x-vendor/flag": "on",
    matrix: [[1, null]],
    weights: [null, { a: 1 }],
    limitsByTenant: { a: { connections: 5, memory: "1Gi" } },
    extra: { whatever: [1] },
    template: { apiVersion: "v1", kind: "Pod", metadata: {}, spec: {} },
    podTemplate: { spec: { containers: [container] } },
  },
});
export const names: readonly string[] = [DatabaseCluster.plural, DatabaseClusterV1beta1.apiVersion, Kind2.group];
export const ready: number | undefined = cluster.status?.ready;
export const isReady: boolean = cluster.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;

// @ts-expect-error: a required field is missing
DatabaseCluster({ name: "x", spec: {} });
// @ts-expect-error: not one of the enum
DatabaseCluster({ name: "x", spec: { podTemplate: {}, mode: "other" } });
// @ts-expect-error: no such field
DatabaseCluster({ name: "x", spec: { podTemplate: {}, nothing: 1 } });
// @ts-expect-error: an object that declares no fields has none
DatabaseCluster({ name: "x", spec: { podTemplate: {}, empty: { a: 1 } } });

export const operator: Operator = defineOperator({
  name: "watcher",
  controllers: [controller(DatabaseCluster, { reconcile: async (each) => void each.spec.podTemplate.spec?.nodeSelector?.["zone"] })],
});
`;
