/** What a change of spec.version does, before anything of it happens; pure. */
import type { PlannedStep } from "@setpoint/data-service";
import { isStreaming, type Seen } from "../../seen/seen.ts";

export function versionSteps(seen: Seen, replicas: readonly string[]): readonly PlannedStep[] {
  const { asked, cluster } = seen;
  if (asked.version === cluster.spec.version) return [];
  return Number(asked.version) < Number(cluster.spec.version)
    ? returnSteps(seen, replicas)
    : upgradeSteps(seen, replicas);
}

function upgradeSteps({ asked, cluster, instances }: Seen, replicas: readonly string[]): readonly PlannedStep[] {
  const { primary = "" } = cluster.status ?? {};
  const heir = instances.find((each) => isStreaming(each) && replicas.includes(each.name))?.name;
  const member = heir ?? primary;
  const to = `PostgreSQL ${asked.version}`;
  return [
    {
      action: "RestartInstance",
      member,
      reason: `it gets the programs of ${to} beside its own`,
      interruption: heir === undefined ? "reads and writes fail until it serves again, some seconds" : "none",
    },
    {
      action: "CheckUpgrade",
      member,
      reason: `pg_upgrade looks whether ${to} takes the data; if not, nothing more happens, and status.upgrade.problems says why`,
      interruption: "none",
    },
    ...(heir === undefined
      ? []
      : [
          {
            action: "Switchover",
            member: primary,
            reason: `${heir} takes over, because its data are upgraded`,
            interruption: "writes wait for some seconds; open connections to the primary end",
          },
        ]),
    {
      action: "UpgradeData",
      member,
      reason: `pg_upgrade makes data of ${to} from a copy; those from before stay on its volume`,
      interruption: "reads and writes fail while the data are copied",
    },
    ...copySteps(
      [primary, ...replicas].filter((each) => each !== member),
      member,
    ),
  ];
}

function returnSteps({ asked, cluster }: Seen, replicas: readonly string[]): readonly PlannedStep[] {
  const { primary = "", upgrade } = cluster.status ?? {};
  const { instance = primary, upgradedAt = "the upgrade" } = upgrade ?? {};
  const others = [primary, ...replicas].filter((each) => each !== instance);
  return [
    {
      action: "ReturnToVersion",
      member: instance,
      reason: `the data from before the upgrade, of PostgreSQL ${asked.version}, take the place of the present ones`,
      interruption: "reads and writes fail until all instances have started again",
      noReturn: `what was written since ${upgradedAt} is lost`,
    },
    ...copySteps(others, instance),
  ];
}

function copySteps(members: readonly string[], from: string): readonly PlannedStep[] {
  return members.map((member) => ({
    action: "CopyInstance",
    member,
    reason: `it starts again from a copy of ${from}`,
    interruption: "none; until then, one replica fewer answers reads and commits",
  }));
}
