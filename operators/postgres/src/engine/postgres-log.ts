/** How archives and restores read PostgreSQL's log. */
import { type EngineLog, type LogSegmentFacts, type TimelineFork } from "@setpoint/data-service";
import { InvalidSnapshotError } from "@setpoint/data-service/agent";
import { bytesBetween } from "../instance/instance-protocol.ts";
import { firstPosition, logEvents } from "./log-records.ts";
import { positionText, readSegmentName, segmentBytes } from "./log-segments.ts";

const historyName = /^([0-9A-F]{8})\.history$/;

/** Whether a file that PostgreSQL hands over to be archived leads to anything. */
export function isArchived(name: string): boolean {
  // What a promotion leaves of the last segment is also in the first one of the new timeline.
  return readSegmentName(name) !== undefined || historyName.test(name);
}

export const postgresLog: EngineLog = {
  read,
  fork,
  finds: (bytes, { kind, value }) =>
    logEvents(bytes).some((event) =>
      event.kind === "mark"
        ? kind === "name" && event.name === value
        : kind === "transaction" && String(event.transaction) === value,
    ),
  compare: (a, b) => bytesBetween(b, a),
};

function read(name: string, bytes: Uint8Array): LogSegmentFacts {
  const found = readSegmentName(name);
  if (found === undefined) throw new InvalidSnapshotError(`"${name}" is no segment of PostgreSQL's log`);
  if (bytes.length !== segmentBytes)
    throw new InvalidSnapshotError(`the segment "${name}" has ${bytes.length} bytes, expected ${segmentBytes}`);
  const { timeline, start } = found;
  if (firstPosition(bytes) !== start)
    throw new InvalidSnapshotError(`the segment "${name}" has the log of another position in it`);
  const endedAtMs = logEvents(bytes).reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  return { timeline, start: positionText(start), end: positionText(start + BigInt(segmentBytes)), endedAtMs };
}

/** `2	0/5000148	no recovery target specified`: the last line is of the timeline that it comes from. */
function fork(name: string, bytes: Uint8Array): TimelineFork | undefined {
  const timeline = historyName.exec(name)?.[1];
  if (timeline === undefined) return undefined;
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  const last = lines.map((line) => line.trim()).findLast((line) => line !== "" && !line.startsWith("#"));
  const [, parent, at] = /^(\d+)\s+([0-9A-F]+\/[0-9A-F]+)\b/.exec(last ?? "") ?? [];
  if (parent === undefined || at === undefined)
    throw new InvalidSnapshotError(`"${name}" does not say where its timeline begins`);
  return { timeline: Number.parseInt(timeline, 16), parent: Number(parent), at };
}
