/** Pages about the etcd operator, for a reader who has the tarball and a cluster of `setpoint up`. */
import type { Act, Story } from "../story.ts";

const cluster: Act = {
  prepare:
    "kubectl apply -f examples/etcd/cluster.yaml && kubectl wait --for=condition=Available etcdcluster/orders --timeout=3m",
  seconds: 190,
};
const made = (what: string): Act => ({ prepare: `${what} --dry-run=client -o yaml | kubectl apply -f -` });
const claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: vault }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

export const etcdStories: readonly Story[] = [
  {
    title: "etcd is installed, connected to, and explained",
    pages: ["docs/commands.md", "docs/connect.md", "docs/why.md", "docs/size-plans.md", "operators/etcd/README.md"],
    place: "project",
    inCi: true,
    acts: [
      { typed: "setpoint install etcd", says: /is available, image setpoint\.dev\/etcd-operator:/, seconds: 120 },
      cluster,
      { typed: "kubectl get etcdcluster orders -o wide", says: /PLAN.*orders/s },
      { typed: "setpoint connect orders-client", until: /https:\/\/localhost:2379/ },
      {
        typed:
          'for file in ca.crt tls.crt tls.key; do\n  kubectl get secret orders-client-tls -o go-template="{{index .data \\"$file\\" | base64decode}}" > $file\ndone',
      },
      { typed: "kubectl create serviceaccount me" },
      { typed: "kubectl create clusterrole why --verb=get --non-resource-url=/debug/why" },
      { typed: "kubectl create clusterrolebinding why-me --clusterrole=why --serviceaccount=default:me" },
      {
        typed:
          "pod=$(kubectl get pods -n setpoint-system -l app.kubernetes.io/name=etcd-operator -o jsonpath='{.items[0].metadata.name}')",
      },
      {
        typed:
          'setpoint why etcdcluster orders -n default --pod "setpoint-system/$pod" --token "$(kubectl create token me)"',
        says: /EtcdCluster default\/orders/,
      },
      {
        typed: "kubectl port-forward -n setpoint-system deployment/etcd-operator 18090:8080 &",
        until: /Forwarding from 127\.0\.0\.1:18090/,
      },
      {
        typed:
          'setpoint why etcdcluster orders -n default --url http://127.0.0.1:18090 --token "$(kubectl create token me)"',
        says: /EtcdCluster default\/orders/,
      },
    ],
  },
  {
    title: "secrets and claims get the labels that stores need",
    pages: ["docs/backups.md", "docs/backup-format.md", "docs/etcd-import.md"],
    place: "project",
    acts: [
      { prepare: "mkdir keys && cd keys" },
      { prepare: "kubectl apply -f claim.yaml", files: { "claim.yaml": claim } },
      { typed: "head -c 32 /dev/urandom > 2026" },
      { typed: "kubectl create secret generic backup-keys --from-file=2026" },
      made("kubectl create secret generic offsite-credentials"),
      made("kubectl create secret generic legacy-login"),
      { typed: "kubectl label persistentvolumeclaim vault data.setpoint.dev/backup-store=true" },
      { typed: "kubectl label secret offsite-credentials data.setpoint.dev/backup-store=true" },
      { typed: "kubectl label secret backup-keys data.setpoint.dev/backup-store=true" },
      { typed: "kubectl label secret legacy-login --namespace=default data.setpoint.dev/external-login=true" },
      { typed: "kubectl label secret legacy-login data.setpoint.dev/external-login-" },
    ],
  },
  {
    title: "the etcd operator is accepted, and removed",
    pages: ["docs/acceptance-tests.md", "docs/etcd-capabilities.md", "docs/bindings.md", "operators/etcd/README.md"],
    place: "project",
    acts: [
      { prepare: "setpoint install etcd", seconds: 120 },
      { typed: "setpoint install service-bindings", seconds: 120 },
      { prepare: "kubectl create namespace trial" },
      { typed: "setpoint accept EtcdCluster -n trial", says: /0 failed/, seconds: 580 },
      { typed: "setpoint accept EtcdCluster", says: /0 failed/, seconds: 580 },
      { typed: "setpoint uninstall etcd", says: /etcd-operator/ },
    ],
  },
];
