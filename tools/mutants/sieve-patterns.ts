/**
 * The 37 bugs that Sieve triggers directly (OSDI 2022), each as its pattern: which children, which change of
 * the spec, which kind of wrong step. The letter after the id is Sieve's: I a crash after a write, S an old
 * view after a restart, U a change never seen.
 */
import { configuration, disruptionBudget, secret, service, statefulSet, volume } from "./children.ts";
import {
  deleteAndRecreate,
  labelBeforeAction,
  pair,
  phaseBeforeAction,
  restartAfterWrite,
  shrinkBeforeMove,
  unresumedTeardown,
} from "./crash-mutants.ts";
import { highWater, onlyAtFirst, previousReplicas, seenEnding } from "./memory-mutants.ts";
import type { Story } from "@setpoint/testing";
import type { Mutant } from "./mutant.ts";
import { deletionByLabel, deletionByName, staleRecreation, staleSwitch, surplusByStatus } from "./stale-mutants.ts";
import type { Store } from "./store.ts";
import { changing, deleting, hurried, replacing } from "./stories.ts";

type Make = Mutant["operator"];

function pattern(id: string, template: string, bug: string, operator: Make, story: Story): Mutant {
  return { id, template, bug, operator, story };
}

const tls = (spec: Store["spec"]): boolean => spec.tls;
const arbiter = (spec: Store["spec"]): boolean => spec.arbiter;
const replicas = (spec: Store["spec"]): number => spec.replicas;
const switchedOn = changing({ tls: false }, { tls: true });
const arbiterOn = changing({ arbiter: false }, { arbiter: true });
const grown = changing({ replicas: 1 }, { replicas: 3 });
const there = changing({});
const data = volume("data-0");
const set = statefulSet("set");

export const sievePatterns: readonly Mutant[] = [
  // I: a crash in the middle
  pattern(
    "K8SSAND-1023 (I)",
    "M1",
    "the second secret of a key store is never made",
    pair(secret("ca"), secret("keystore")),
    there,
  ),
  pattern("K8SSAND-1362 (I)", "M2", "a label alone proves the start call", labelBeforeAction, there),
  pattern(
    "casskop-370 (I)",
    "M10",
    "a half-done scale-down leaks its volume",
    shrinkBeforeMove,
    changing({ replicas: 2 }, { replicas: 1 }),
  ),
  pattern(
    "K8SPSMDB-578 (I)",
    "M1",
    "the second TLS secret is never made",
    pair(secret("ssl"), secret("ssl-internal")),
    there,
  ),
  pattern(
    "K8SPSMDB-579 (I)",
    "M1",
    "the second certificate is never made",
    pair(configuration("cert"), configuration("cert-internal")),
    there,
  ),
  pattern(
    "nifikop-49 (I)",
    "M9",
    "the restart is decided by the value just written",
    restartAfterWrite,
    changing({ config: "a" }, { config: "b" }),
  ),
  pattern(
    "nifikop-79 (I)",
    "M2",
    "the status says scaling, and nobody scales",
    phaseBeforeAction,
    changing({ replicas: 2 }, { replicas: 1 }),
  ),
  pattern(
    "rabbitmq-782 (I)",
    "M6",
    "the set is recreated, the volume keeps its size",
    deleteAndRecreate,
    changing({ storage: "1Gi" }, { storage: "2Gi" }),
  ),
  pattern(
    "K8SPXC-896 (I)",
    "M1",
    "the second TLS secret is never made",
    pair(secret("tls"), secret("tls-internal")),
    there,
  ),
  pattern(
    "K8SPXC-897 (I)",
    "M1",
    "the second certificate is never made",
    pair(configuration("issuer"), configuration("certificate")),
    there,
  ),
  pattern(
    "K8SPXC-979 (I)",
    "M11",
    "the steps after the first deletion are skipped",
    unresumedTeardown([set, data, secret("users")]),
    deleting(),
  ),
  // S: an old view after a restart
  pattern("K8SSAND-559 (S)", "M3", "the namesake's volume is deleted", deletionByName([data]), replacing()),
  pattern(
    "cassandra-402 (S)",
    "M3",
    "the namesake's volume is deleted",
    deletionByName([volume("data-0"), configuration("racks")]),
    replacing(),
  ),
  pattern(
    "cassandra-407 (S)",
    "M8",
    "a live volume is taken for that of a scaled-down pod",
    surplusByStatus,
    changing({ replicas: 2 }, { replicas: 1 }, { replicas: 2 }),
  ),
  pattern(
    "casskop-316 (S)",
    "M4",
    "the new cluster's volumes are deleted by label",
    deletionByLabel([data, volume("data-1")]),
    replacing(),
  ),
  pattern(
    "casskop-321 (S)",
    "M6",
    "the disruption budget is deleted and recreated",
    staleRecreation(disruptionBudget("pdb"), (spec) => `${spec.maxUnavailable}`),
    changing({ maxUnavailable: 1 }, { maxUnavailable: 2 }),
  ),
  pattern(
    "elastic-5249 (S)",
    "M4",
    "the new cluster's certificates are deleted",
    deletionByLabel([secret("certs"), secret("elastic-user")]),
    replacing(),
  ),
  pattern(
    "elastic-5274 (S)",
    "M6",
    "the disruption budget is deleted and recreated",
    staleRecreation(disruptionBudget("default"), (spec) => `${spec.replicas}`),
    grown,
  ),
  pattern(
    "K8SPSMDB-430 (S)",
    "M4",
    "the new cluster's set and volumes are deleted",
    deletionByLabel([set, data]),
    replacing(),
  ),
  pattern(
    "K8SPSMDB-433 (S)",
    "M5",
    "the config servers are taken away",
    staleSwitch([statefulSet("cfg")], tls),
    switchedOn,
  ),
  pattern(
    "K8SPSMDB-438 (S)",
    "M5",
    "the arbiter is taken away",
    staleSwitch([statefulSet("arbiter")], arbiter),
    arbiterOn,
  ),
  pattern("rabbitmq-648 (S)", "M3", "the namesake's set is deleted", deletionByName([set]), replacing()),
  pattern(
    "rabbitmq-653 (S)",
    "M6",
    "the set is deleted and recreated",
    staleRecreation(set, (spec) => spec.storage),
    changing({ storage: "1Gi" }, { storage: "2Gi" }),
  ),
  pattern("K8SPXC-716 (S)", "M4", "the new cluster's volume is deleted", deletionByLabel([data]), replacing()),
  pattern("K8SPXC-725 (S)", "M5", "the proxy is taken away", staleSwitch([statefulSet("haproxy")], tls), switchedOn),
  pattern(
    "K8SPXC-763 (S)",
    "M5",
    "the proxy is taken away",
    staleSwitch([statefulSet("proxysql"), service("proxysql")], tls),
    switchedOn,
  ),
  pattern(
    "yugabyte-35 (S)",
    "M5",
    "the TLS secrets are taken away",
    staleSwitch([secret("root-ca"), secret("tserver-tls")], tls),
    switchedOn,
  ),
  pattern(
    "yugabyte-36 (S)",
    "M5",
    "the service of the user interface is taken away",
    staleSwitch([service("ui")], (spec) => spec.port > 0),
    changing({ port: 0 }, { port: 9_000 }),
  ),
  pattern(
    "zookeeper-312 (S)",
    "M4",
    "the new cluster's volumes are deleted",
    deletionByLabel([volume("data-0"), volume("data-1"), volume("data-2")]),
    replacing(),
  ),
  pattern("zookeeper-314 (S)", "M8", "a running volume is taken for surplus", surplusByStatus, grown),
  // U: a change that is never seen
  pattern(
    "cassandra-398 (U)",
    "M7",
    "a volume is taken away only when its process is seen to end",
    seenEnding,
    changing({ replicas: 2 }, { replicas: 1 }),
  ),
  pattern(
    "casskop-342 (U)",
    "M7",
    "the number of volumes follows from the change that was seen",
    previousReplicas(replicas),
    grown,
  ),
  pattern(
    "K8SPSMDB-585 (U)",
    "M7",
    "the arbiter's volume depends on the changes that were seen",
    highWater((spec) => (spec.arbiter ? 1 : 0)),
    changing({}, { arbiter: true }, { arbiter: false }),
  ),
  pattern(
    "rabbitmq-758 (U)",
    "M7",
    "what happens depends on the replicas seen before",
    previousReplicas(replicas),
    changing({ replicas: 1 }, { replicas: 3 }, { replicas: 2 }),
  ),
  pattern(
    "K8SPXC-918 (U)",
    "M7",
    "the set of volumes depends on the sizes that were seen",
    highWater(replicas),
    changing({ replicas: 3 }, { replicas: 5 }, { replicas: 3 }),
  ),
  pattern(
    "yugabyte-39 (U)",
    "M7",
    "a scale-up that is not seen never happens",
    previousReplicas((spec) => spec.replicas + (spec.tls ? 1 : 0)),
    changing({ replicas: 1 }, { replicas: 2 }),
  ),
  pattern(
    "zookeeper-453 (U)",
    "M7",
    "what is not seen in its first state is never initialised",
    onlyAtFirst,
    hurried(500, { replicas: 1 }, { replicas: 2 }),
  ),
];
