/** The first hour: README.md, from a fresh clone to an operator of one's own and etcd in its cluster. */
import type { Story } from "../story.ts";

const pages = ["README.md"];

export const readmeStories: readonly Story[] = [
  {
    title: "a fresh clone starts a real etcd",
    pages,
    place: "clone",
    inCi: true,
    acts: [
      { typed: "npm start", until: /^Ready after .*\^C stops everything/ms, says: /healthy/, seconds: 170 },
      { prepare: "export KUBECONFIG=.setpoint/kubeconfig && kubectl get etcdcluster orders" },
    ],
  },
  {
    title: "a fresh clone runs the smallest operator",
    pages,
    place: "clone",
    inCi: true,
    acts: [
      { typed: "npx setpoint up", until: /^Ready: /m },
      {
        typed: "KUBECONFIG=.setpoint/kubeconfig npx setpoint run examples/candy/candy.ts",
        until: /"message":"Ready"/,
      },
    ],
  },
  {
    title: "the tarball in an empty folder makes a project, runs its operator, and installs etcd",
    pages,
    place: "empty",
    inCi: true,
    acts: [
      {
        typed: "npm install /path/to/setpoint-0.1.0.tgz",
        with: { "/path/to/setpoint-0.1.0.tgz": "$TARBALL" },
        seconds: 180,
      },
      { typed: "npx setpoint create operator ice-cream", says: /Created the operator "ice-cream" in ice-cream/ },
      { typed: "cd ice-cream && npm install", seconds: 180 },
      { typed: "npm test", says: /1 passed/ },
      { typed: "npx setpoint up", until: /^Ready: /m },
      { prepare: "export KUBECONFIG=.setpoint/kubeconfig" },
      { typed: "npm start", until: /"message":"Ready"/ },
      { prepare: "kubectl wait --for=condition=Established crd/icecreams.ice-cream.example.com --timeout=20s" },
      { typed: "npx setpoint install etcd", says: /is available, image setpoint\.dev\/etcd-operator:/, seconds: 120 },
      { typed: "kubectl apply -f ../node_modules/setpoint/examples/etcd/cluster.yaml" },
      { typed: "kubectl wait --for=condition=Available etcdcluster/orders --timeout=3m", seconds: 190 },
      { typed: "npx setpoint connect orders-client", until: /https:\/\/localhost:2379/ },
      {
        typed: "npx setpoint build etcd",
        says: /^Wrote .*etcd-operator\.tar: image setpoint\.dev\/etcd-operator:/m,
        seconds: 120,
      },
    ],
  },
  {
    title: "the tour of a fresh clone holds",
    pages,
    place: "clone",
    acts: [{ typed: "npm start -- --exit", says: /All steps hold/, seconds: 580 }],
  },
  {
    title: "a fresh clone can be packed",
    pages: ["README.md", "CONTRIBUTING.md"],
    place: "clone",
    inCi: true,
    acts: [
      { typed: "npm run pack", says: /^\/.*setpoint-0\.1\.0\.tgz$/m },
      { typed: "npm run types", seconds: 120 },
    ],
  },
];
