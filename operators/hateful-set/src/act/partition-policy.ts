/** The NetworkPolicy that cuts pods off: it selects them and allows nothing. */
import { NetworkPolicy } from "setpoint/kinds";
import type { ActRecord } from "../kind/act-record.ts";
import { chaosNames } from "../kind/chaos-names.ts";
import type { HatefulSet } from "../kind/hateful-set.ts";

export function partitionPolicy(
  { metadata }: HatefulSet,
  { policy, podLabels }: NonNullable<ActRecord["lasting"]>,
): NetworkPolicy {
  const { name = "", namespace } = metadata;
  return NetworkPolicy({
    name: policy,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { [chaosNames.fault]: name },
    spec: { podSelector: { matchLabels: podLabels }, policyTypes: ["Ingress", "Egress"] },
  });
}
