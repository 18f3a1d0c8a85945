/** Compares what is gone with what the status of a PostgresCluster declared; pure. */
import type { Anomaly } from "./list-append.ts";

export interface Losses {
  /** Acknowledged appends that are gone and that a status declared. */
  readonly declared: number;
  readonly undeclared: readonly Anomaly[];
}

/**
 * `positions` says where the log was after the commit of a value, at the latest; `declarations` are the
 * `lostAtMost` of the failovers since.
 */
export function judgeLosses(
  anomalies: readonly Anomaly[],
  positions: ReadonlyMap<number, string>,
  declarations: readonly string[],
): Losses {
  const lost = anomalies.filter(({ kind }) => kind === "lost append");
  const starts = declarations.map(startOfLoss).filter((each) => each !== undefined);
  const isDeclared = ({ value = Number.NaN }: Anomaly): boolean => {
    const position = positions.get(value);
    return position !== undefined && starts.some((start) => numberOf(position) > start);
  };
  const undeclared = lost.filter((each) => !isDeclared(each));
  return { declared: lost.length - undeclared.length, undeclared };
}

/** Commits up to there are kept, by that sentence; undefined when it declares none. */
function startOfLoss(sentence: string): bigint | undefined {
  if (sentence.includes("after its last report")) return 0n;
  const [, position] = /committed after ([0-9A-F]+\/[0-9A-F]+)/.exec(sentence) ?? [];
  if (position === undefined) return undefined;
  const [, bytes = "0"] = /(\d+) bytes of the log/.exec(sentence) ?? [];
  return numberOf(position) - BigInt(bytes);
}

function numberOf(position: string): bigint {
  const [high = "0", low = "0"] = position.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
