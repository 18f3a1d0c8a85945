/** Pages about an operator of one's own: the `candy` of the examples, with the tarball, on `setpoint up`. */
import type { Act, Story } from "../story.ts";

/** Readers have an operator in the current folder, and an object of it. */
const ownFolder: Act = {
  prepare: "cd $(mktemp -d -p .) && cp ../examples/candy/candy.ts . && cp -r ../examples .",
  files: {},
};
const lolly: Act = {
  prepare: `kubectl apply -f - <<END
apiVersion: examples.setpoint.dev/v1
kind: Candy
metadata: { name: lolly, namespace: default }
spec: { name: lolly }
END`,
};
const removed: Act = { prepare: "kubectl delete crd candies.examples.setpoint.dev --ignore-not-found" };
const greener = `sed 's/data: candy.spec/data: { ...candy.spec, color: "green" }/' candy.ts > candy-v2.ts`;

export const candyStories: readonly Story[] = [
  {
    title: "an operator on this machine says why",
    pages: ["docs/why.md"],
    place: "project",
    inCi: true,
    acts: [
      ownFolder,
      { prepare: "setpoint run candy.ts", until: /"message":"Ready"/ },
      lolly,
      { prepare: "kubectl wait candy lolly --for=jsonpath={.status.wrapped}=true --timeout=20s" },
      {
        typed: "setpoint why candy lolly -n default",
        says: /Candy default\/lolly, reconciled by the controller "candy"/,
      },
      removed,
    ],
  },
  {
    title: "a version of an operator is planned, recorded and replayed",
    pages: ["docs/plan-record-replay.md", "docs/shipping.md"],
    place: "project",
    inCi: true,
    acts: [
      ownFolder,
      { prepare: greener },
      { prepare: "setpoint record candy.ts --output first.jsonl --for 3" },
      lolly,
      {
        typed: "setpoint record candy.ts --output churn.jsonl --for 60",
        with: { "--for 60": "--for 5" },
        says: /Recorded \d+ requests/,
      },
      { typed: "setpoint replay churn.jsonl candy.ts", says: /did the same/ },
      { typed: "setpoint replay churn.jsonl candy-v2.ts", code: 1, says: /Diverged at entry \d+.*color: "green"/s },
      {
        typed: "setpoint plan candy-v2.ts",
        code: 2,
        says: /\+ data\.color: green.*0 to create, 1 to change, 0 to delete/s,
      },
      { typed: "setpoint manifests candy.ts --from-recording churn.jsonl >install.yaml" },
      removed,
    ],
  },
  {
    title: "an operator is reloaded by dev",
    pages: ["docs/commands.md"],
    place: "project",
    acts: [ownFolder, { typed: "setpoint dev candy.ts --nodes 0", until: /Started .*candy\.ts/ }],
  },
  {
    title: "manifests, a bundle and a dashboard of an operator are written and applied",
    pages: ["docs/shipping.md", "docs/commands.md", "docs/etcd-capabilities.md"],
    place: "project",
    inCi: true,
    acts: [
      ownFolder,
      {
        typed: "setpoint manifests candy.ts --image registry.example.com/candy:1.2 | kubectl apply -f -",
        says: /deployment.apps\/candy-operator created/,
      },
      { typed: "setpoint manifests examples/candy/candy.ts --image candy:1", says: /^kind: ClusterRole$/m },
      {
        typed:
          "setpoint manifests examples/candy/candy.ts --image candy:1 --with networkpolicy,pdb --output kustomize base",
      },
      { typed: "kubectl apply -k base", says: /poddisruptionbudget.policy\/candy-operator created/ },
      { prepare: "kubectl delete -k base" },
      { typed: "setpoint bundle examples/candy/candy.ts bundle/ --version 1.2.3", says: /clusterserviceversion/ },
      { typed: "setpoint bundle --check bundle/", says: /is fit/ },
      { typed: "setpoint dashboard examples/candy/candy.ts > candy.json" },
      { typed: "setpoint manifests etcd --output images", says: /quay\.io\/coreos\/etcd/ },
      { typed: "setpoint help create", says: /setpoint create operator NAME/ },
      {
        typed: "setpoint manifests examples/candy/candy.ts --imgae candy:1",
        code: 2,
        says: /Unknown option '--imgae'/,
      },
    ],
  },
  {
    title: "a chart and a hook are operators without code",
    pages: ["docs/engines.md", "docs/hooks.md"],
    place: "project",
    acts: [
      { prepare: "cp -r examples/chart chart-1 && cd chart-1" },
      { typed: "setpoint run engine.yaml", until: /"message":"Ready"/ },
      { typed: "kubectl apply -f site.yaml" },
      { typed: "kubectl get sites", says: /home/ },
      {
        prepare: "kubectl delete -f site.yaml && kubectl delete crd sites.examples.setpoint.dev && cd ../examples/hook",
      },
      { typed: "python3 hook.py &", until: /listening on 8090/ },
      { typed: "setpoint run candies.yaml &", until: /"message":"Ready"/ },
      { typed: "kubectl apply -f candy.yaml" },
      { prepare: "for i in $(seq 40); do kubectl get configmap lolly-mint && break; sleep 0.5; done" },
      { typed: "kubectl get configmaps", says: /lolly-lime.*lolly-mint/s },
      removed,
    ],
  },
  {
    title: "the chocolate factory makes bars",
    pages: ["docs/examples.md"],
    place: "clone",
    acts: [
      { typed: "npx node examples/chocolate-factory/factory-http.ts 8090 &", until: /8090/ },
      { typed: "npx setpoint up &", until: /^Ready: /m },
      { typed: "export KUBECONFIG=.setpoint/kubeconfig FACTORY_URL=http://127.0.0.1:8090" },
      { typed: "npx setpoint run examples/chocolate-factory/operator.ts &", until: /"message":"Ready"/ },
      { typed: "kubectl apply -f examples/chocolate-factory/chocolates.yaml" },
      { typed: "kubectl get choc", says: /NAME.*dark/s },
    ],
  },
  {
    title: "faults are injected over HTTP",
    pages: ["docs/faults-over-http.md"],
    place: "empty",
    acts: [
      {
        prepare:
          "npm install $TARBALL --prefer-offline --no-audit --no-fund && export PATH=$PWD/node_modules/.bin:$PATH",
        seconds: 180,
      },
      {
        prepare: "true",
        files: {
          "faults.yaml":
            "rules: [{ name: lost, fault: lostAnswer, every: 10, times: 5, match: { verbs: [create] } }]\n",
          "rule.json":
            '{ "name": "slow", "fault": "latency", "minMs": 1, "maxMs": 2, "match": { "verbs": ["get"] } }\n',
        },
      },
      { typed: "setpoint up --in-memory --nodes 0 --faults faults.yaml", until: /^Ready: /m },
      { prepare: "export KUBECONFIG=.setpoint/kubeconfig" },
      { typed: "kubectl get --raw /setpoint/faults", says: /lost/ },
      { typed: "kubectl create --raw /setpoint/faults -f rule.json" },
      { typed: "kubectl delete --raw /setpoint/faults/lost" },
    ],
  },
];
