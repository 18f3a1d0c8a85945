/** The page of the PostgreSQL operator, for a reader who has the tarball and a cluster of `setpoint up`. */
import type { Story } from "../story.ts";

const cluster = `apiVersion: postgres.setpoint.dev/v1
kind: PostgresCluster
metadata: { name: orders }
spec: { version: "15", storage: { size: 1Gi } }
`;

export const postgresStories: readonly Story[] = [
  {
    title: "a fresh clone plays the tour of PostgreSQL",
    pages: ["README.md", "operators/postgres/README.md"],
    place: "clone",
    acts: [
      {
        typed: "npm start -- --operator postgres",
        with: { "--operator postgres": "--operator postgres --exit" },
        says: /^All steps hold/m,
        seconds: 600,
      },
    ],
  },
  {
    title: "PostgreSQL is installed, asked, and changes its primary",
    pages: ["operators/postgres/README.md"],
    place: "project",
    acts: [
      {
        typed: "setpoint install postgres",
        says: /is available, image setpoint\.dev\/postgres-operator:/,
        seconds: 120,
      },
      { prepare: "kubectl apply -f postgres.yaml", files: { "postgres.yaml": cluster } },
      {
        prepare: "kubectl wait postgrescluster orders --for=jsonpath={.status.phase}=Running --timeout=280s",
        seconds: 290,
      },
      { typed: "kubectl get pg orders -o wide", says: /orders +3 +3 +orders-1 +Running/ },
      {
        typed: "kubectl exec orders-1 -- psql -h /run/setpoint/socket -U postgres",
        with: { "-U postgres": "-U postgres -Atc 'select pg_is_in_recovery()'" },
        says: /^f$/m,
      },
      { typed: "kubectl annotate pg orders postgres.setpoint.dev/switchover-to=orders-2", says: /annotated/ },
      {
        prepare: "kubectl wait postgrescluster orders --for=jsonpath={.status.primary}=orders-2 --timeout=60s",
        seconds: 70,
      },
      { prepare: "kubectl delete postgrescluster orders && setpoint uninstall postgres --kinds --yes", seconds: 90 },
    ],
  },
];
