#!/usr/bin/env bash
# Measures the operator of this folder beside those of the comparison's folder, with its driver, on a real kube-apiserver.
# Needs there: `build.sh` and `states.sh` done. Usage:
#   PEERS_HOME=… PEERS_WORK=… KUBE_BIN=… ETCD_BIN=… bench/widget-operator/run-peers.sh [W2,W1w,W3,W5,W1]
# PEERS: who takes part (default: all tuned ones); ROUNDS: how often, the peers interleaved (default 1); NODE_FLAGS: other ones.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${PEERS_HOME:?the folder of the comparison}"
. "$PEERS_HOME/env.sh"
node=$root/node_modules/node/bin/node
flags=${NODE_FLAGS:---max-semi-space-size=8}
out=$PEERS_WORK/setpoint
mkdir -p "$out"

if [ -z "${SKIP_BUILD:-}" ]; then
  (cd "$root" && npx tsc -b packages/setpoint && npx tsc -p bench/widget-operator)
  (cd "$here" && npx rolldown -c rolldown.config.mjs)
fi

# What docs/small-and-quick.md recommends to everybody: one file, production, compiled code kept between starts, a small young generation,
# one arena of malloc. As in an image the file is in a folder of its own, with a short name, and is started from there.
app=$PEERS_WORK/app
mkdir -p "$app"
cp "$here/dist/operator.mjs" "$app/operator.mjs"
cat > "$app/start" <<SH
#!/bin/sh
cd "$app"
export NODE_ENV=production NODE_COMPILE_CACHE="$app/compiled" MALLOC_ARENA_MAX=1
exec "$node" $flags operator.mjs
SH
chmod +x "$app/start"
"$node" - "$PEERS_HOME/peers.json" "$app/start" > "$out/peers.json" <<'JS'
const [, , peersFile, start] = process.argv;
const peers = JSON.parse(require("node:fs").readFileSync(peersFile, "utf8"));
console.log(JSON.stringify([{ name: "setpoint", cmd: [start], env: {} }, ...peers], undefined, 2));
JS

# One start without a cluster, so that compiled code is on disk as in an image that has been built. Code compiled under other flags is of no use.
rm -rf "$app/compiled"
KUBECONFIG=/nonexistent "$app/start" > /dev/null 2>&1 || true

for round in $(seq 1 "${ROUNDS:-1}"); do
  echo "round $round"
  "$PEERS_WORK/out/driver" run -runs 1 -peers "$out/peers.json" -out "$out/results.jsonl" \
    -workloads "${1:-W2,W1w,W3,W5}" -only "${PEERS:-setpoint,controller-runtime,kube-rs,kopf,client-node,client-node-shared-agent}"
done
"$PEERS_WORK/out/driver" report -out "$out/results.jsonl"
