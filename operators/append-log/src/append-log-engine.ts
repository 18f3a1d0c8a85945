/** The half of the engine that the operator calls. */
import {
  type EngineControl,
  type EngineRoles,
  type EngineTarget,
  type InstanceAccess,
  type MemberRole,
  preparedClaim,
} from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { Pod } from "setpoint/kinds";
import { AppendLog } from "./append-log.ts";
import type { LogGateway } from "./log-gateway.ts";
import { addressOf, firstClaim, memberName, serverPort, serverUser } from "./resources.ts";
import { appendLogSegments } from "./server/log-data.ts";
import type { MemberReport } from "./server/log-server.ts";

const target: EngineTarget = {
  kinds: ["time", "position", "name"],
  refusal: ({ kind, value }) =>
    kind === "position" && !/^\d+$/.test(value) ? `"${value}" is no position: expected a number of entries` : undefined,
  replay: (replay) => ({ files: {}, args: [JSON.stringify(replay)] }),
};

/** As elections need it. */
export function roleOf(name: string, { role, timeline, position }: MemberReport): MemberRole {
  return { name, role, timeline, received: String(position) };
}

function roles(gateway: LogGateway): EngineRoles<AppendLog> {
  const address = async (member: string, access: InstanceAccess): Promise<string> => {
    const found = addressOf(await access.object(Pod, member));
    if (found === undefined) throw new Error(`Cannot call ${member}: its pod has no address`);
    return found;
  };
  return {
    async members(log, access) {
      const heard = [0, 1].map(async (index) => {
        const member = memberName(log, index);
        return roleOf(member, await gateway.report(await address(member, access), access.signal));
      });
      return (await Promise.allSettled(heard)).flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    },
    promote: async (log, member, access) =>
      gateway.promote(await address(member, access), log.status?.timeline ?? 1, access.signal),
    demote: async (log, member, access) => {
      const primary = await address(log.status?.primary ?? "", access);
      await gateway.follow(await address(member, access), primary, access.signal);
    },
  };
}

/** The operator's own image, and the program in it. */
export interface ServerProgram {
  readonly image: string;
  readonly command: readonly string[];
}

/** The engine "append-log". */
export function appendLogEngine(gateway: LogGateway, { image, command }: ServerProgram) {
  return {
    name: "append-log",
    kind: AppendLog,
    state: ({ status }: Stored<AppendLog>) => ({
      serving: status?.serving ?? false,
      waitingFor: status?.serving === true ? undefined : "it has no primary",
      engineVersion: "1.0.0",
      restored: status?.restored,
      stoppedFor: status?.stoppedFor,
    }),
    source: ({ status }) => ({ request: { url: `http://${status?.podIP ?? ""}:${serverPort}` } }),
    dataFolder: (log, restoreId, { snapshotFile, claimFolder, replayFolder }) => ({
      image,
      command: [...command, "restore", snapshotFile, claimFolder, replayFolder],
      user: serverUser,
      claim: preparedClaim(log, firstClaim(log), restoreId),
    }),
    newInstance: (name, namespace, spec) => AppendLog({ name, namespace, spec: { members: 2, ...spec } }),
    log: appendLogSegments,
    target,
    roles: roles(gateway),
  } satisfies EngineControl<AppendLog>;
}
