/** Commands that pages print and no story types, each with the reason. */

/** The reason of each group of commands, which are given by their beginning. */
export const unplayed: readonly { readonly reason: string; readonly commands: readonly string[] }[] = [
  {
    reason: "a script of this repository; tools/bootstrap/scripts.test.ts starts each one, and CI runs the gate",
    commands: ["npm test", "npm run "],
  },
  {
    reason: "needs a cluster, a registry or a container engine that is not ours",
    commands: [
      "docker ",
      "skopeo ",
      "ctr ",
      "kind ",
      "setpoint build etcd",
      "setpoint install etcd --image registry.example.com",
      "kubectl apply --server-side -f operators/etcd/manifests/install.yaml",
      "kubectl apply -k operators/etcd/monitoring",
      "kubectl create clusterrolebinding prometheus-reads-etcd-operator",
    ],
  },
  {
    reason: "etcdctl is no part of this machine; e2e/etcd/connect.test.ts does the same with curl and the same files",
    commands: ["etcdctl "],
  },
  {
    reason: "names objects that only the reader has; e2e tests of the page do it with objects of their own",
    commands: [
      "setpoint accept EtcdCluster --version 3.5.16",
      "kubectl get etcdmirrors",
      "setpoint why candy lolly --cluster west",
      "setpoint why candy lolly -n default --url http://127.0.0.1:39113",
      "kubectl annotate shop corner",
      "kubectl annotate database orders",
      "kubectl label pvc data-orders-x7k2wq",
      "kubectl apply -f orders.yaml",
      "kubectl annotate pvc -l etcd.setpoint.dev/cluster=orders",
      "kubectl patch etcdcluster orders --type merge",
      "kubectl label namespace team-a",
      "kubectl -n setpoint-system create configmap etcd-plans",
      "kubectl -n setpoint-system patch deployment etcd-operator",
      "setpoint plan operators/etcd/src/operator.ts -f",
      "setpoint plan operators/postgres/src/operator.ts -f",
      "kubectl get podsets.",
      "setpoint run operator.ts",
      "kubectl apply -f even.yaml",
      "kubectl port-forward service/orders-client 2379",
    ],
  },
  {
    reason: "needs a cluster of CloudNativePG with data of the reader; operators/postgres/src/adopt tests the command",
    commands: [
      "setpoint postgres adopt",
      "kubectl get clusters.postgresql.cnpg.io",
      "kubectl exec -it orders-1 -c postgres",
      "kubectl logs -l postgres.setpoint.dev/cluster=orders",
      "kubectl describe pg orders",
      "setpoint why postgrescluster orders",
    ],
  },
  {
    reason: "e2e/notices.test.ts types it, and compares what the page shows",
    commands: ["kubectl create ingress web", "kubectl get events --field-selector reason=NotHandled"],
  },
  {
    reason: "e2e/prometheus/getting-started.test.ts does the same with the manifests, beside the gate",
    commands: ["setpoint install prometheus", "kubectl get prometheus"],
  },
  {
    reason: "e2e/compliance-probe.test.ts does the same with the manifest and the tool",
    commands: ["setpoint install compliance-probe", "kubectl get complianceprobes"],
  },
  {
    reason: "e2e/hateful-set.test.ts does the same with the manifests and requests of the API",
    commands: ["setpoint install hateful-set", "kubectl annotate hatefulset", "kubectl get hatefulset"],
  },
  {
    reason: "takes Go and minutes of CPU, or is a measurement",
    commands: [
      "npx node --conditions=@setpoint/source e2e/etcd36/load-images.ts",
      "npx node --conditions=@setpoint/source bench/hooks.ts",
      "grep -vE",
      "node main.js",
      "setpoint up --nodes 0 --in-memory",
    ],
  },
];

/** Why no story types the command; undefined when one must. */
export function reasonNotToPlay(command: string): string | undefined {
  return unplayed.find(({ commands }) => commands.some((beginning) => command.startsWith(beginning)))?.reason;
}
