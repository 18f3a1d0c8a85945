/** A pod that writes numbers into a PostgresCluster, one after the other, and logs each acknowledgement. */

/** A number that was acknowledged, and when. */
export interface Acknowledgement {
  readonly n: number;
  readonly atSeconds: number;
}

const script = `
until psql "$URI&connect_timeout=1" -qc 'create table if not exists ledger (n int primary key)'; do sleep 0.2; done
n=0
while [ ! -e /tmp/stop ]; do
  n=$((n+1))
  if psql "$URI&connect_timeout=1" -qc "insert into ledger values ($n)" 2>/dev/null; then echo "ack $n $(date +%s.%N)"; fi
done
sleep infinity`;

export function ledgerPodName(cluster: string): string {
  return `writer-of-${cluster}`;
}

/** Its spec: it logs in through the Service of the primary, with the login of the Secret of the cluster. */
export function ledgerPodSpec(cluster: string, version: string) {
  const uri = { secretKeyRef: { name: `${cluster}-app`, key: "uri" } };
  const image = `docker.io/library/postgres:${version}`;
  const container = { name: "writer", image, command: ["sh", "-c", script], env: [{ name: "URI", valueFrom: uri }] };
  return { terminationGracePeriodSeconds: 0, securityContext: { runAsUser: 999 }, containers: [container] };
}

export function acknowledgements(log: string): readonly Acknowledgement[] {
  return [...log.matchAll(/^ack (\d+) ([\d.]+)$/gm)].map(([, n, at]) => ({ n: Number(n), atSeconds: Number(at) }));
}

/** In seconds. */
export function longestPause(writes: readonly Acknowledgement[]): number {
  return Math.max(0, ...writes.slice(1).map(({ atSeconds }, i) => atSeconds - (writes[i]?.atSeconds ?? 0)));
}
