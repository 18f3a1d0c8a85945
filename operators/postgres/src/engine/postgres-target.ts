/** The moments of the past that a restore can end at, and what PostgreSQL reads of them. */
import type { EngineTarget, Replay, RestoreTarget, TargetKind } from "@setpoint/data-service";
import { positionOf } from "../instance/instance-protocol.ts";
import { paths } from "../manager/paths.ts";

const settingOf: Readonly<Record<TargetKind, string>> = {
  time: "recovery_target_time",
  position: "recovery_target_lsn",
  name: "recovery_target_name",
  transaction: "recovery_target_xid",
};

/** Of the settings of a restore; the instance manager has PostgreSQL read it. */
export const recoveryFile = "recovery.conf";

const archived = `${paths.archived}/log/%f`;
/** A file that is not there is the end of the archive; one that cannot be copied must stop the recovery. */
export const restoreCommand = `test -e ${archived} || exit 1; cp ${archived} %p || exit 200`;

export const postgresTarget: EngineTarget = {
  kinds: ["time", "position", "name", "transaction"],
  refusal,
  replay: (replay) => ({ files: { [recoveryFile]: recoveryText(replay) }, args: [] }),
};

function refusal({ kind, value }: RestoreTarget): string | undefined {
  if (kind === "transaction" && !/^\d{1,10}$/.test(value))
    return `"${value}" is no transaction: expected a number, as pg_current_xact_id() gives it`;
  if (kind === "name" && /[\r\n\0]/.test(value)) return "the name of a restore point has no line breaks";
  if (kind !== "position") return undefined;
  try {
    positionOf(value);
    return undefined;
  } catch {
    return `"${value}" is no position of the log: expected two hexadecimal numbers such as 0/3000148`;
  }
}

/** The server reads it before it knows any time zone by name, and Z is a name. */
function settingValue({ kind, value }: RestoreTarget): string {
  return kind === "time" ? value.replace(/[tT]/, " ").replace(/[zZ]$/, "+00") : value;
}

function recoveryText({ target, timeline }: Replay): string {
  const settings = {
    restore_command: restoreCommand,
    recovery_target_timeline: String(timeline),
    ...(target === undefined ? {} : { [settingOf[target.kind]]: settingValue(target) }),
    recovery_target_action: "promote",
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'\n`)
    .join("");
}
