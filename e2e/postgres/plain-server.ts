/** A PostgreSQL server that no operator made, with a superuser whom clients reach. */
import { eventually } from "./eventually.ts";
import type { PostgresPlayground } from "./playground.ts";

const limitMs = 120_000;
const bin = "/usr/lib/postgresql/15/bin";

export interface PlainServer {
  /** Of its pod and its Service. */
  readonly name: string;
  readonly superuser: string;
  /** In the Secret of the superuser's name. */
  readonly password: string;
}

/** Starts PostgreSQL 15; resolves when it answers. */
export async function startPlainServer(playground: PostgresPlayground, server: PlainServer): Promise<void> {
  const { name, superuser, password } = server;
  const script = [
    `export PATH=${bin}:$PATH`,
    `initdb -D /data/pg -U ${superuser} --auth-host=scram-sha-256 --auth-local=trust -E UTF8 --locale=C.UTF-8 --pwfile=/secret/password`,
    `echo "host all all all scram-sha-256" >> /data/pg/pg_hba.conf`,
    `echo "host replication ${superuser} all scram-sha-256" >> /data/pg/pg_hba.conf`,
    "exec postgres -D /data/pg -c listen_addresses=* -c unix_socket_directories=/tmp",
  ].join(" && ");
  const container = {
    name: "postgres",
    image: "docker.io/library/postgres:15",
    command: ["sh", "-c", script],
    volumeMounts: [
      { name: "data", mountPath: "/data" },
      { name: "secret", mountPath: "/secret" },
    ],
  };
  await playground.apply(
    { apiVersion: "v1", kind: "Secret", metadata: { name: superuser }, stringData: { password } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { app: name } },
      spec: {
        securityContext: { runAsUser: 999, runAsGroup: 999, fsGroup: 999 },
        containers: [container],
        volumes: [
          { name: "data", emptyDir: {} },
          { name: "secret", secret: { secretName: superuser } },
        ],
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { selector: { app: name }, ports: [{ port: 5432 }] },
    },
  );
  await eventually(() => onPlainServer(playground, server, "postgres", "select 1"), limitMs);
}

/** One statement as the superuser. */
export function onPlainServer(
  playground: PostgresPlayground,
  { name, superuser }: PlainServer,
  database: string,
  statement: string,
): Promise<string> {
  const psql = [`${bin}/psql`, "-h", "/tmp", "-U", superuser, "-d", database];
  return playground.kubectl.ok(`exec ${name} --`, [...psql, "-v", "ON_ERROR_STOP=1", "-Atqc", statement]);
}
