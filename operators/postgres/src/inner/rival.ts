/** Of two objects about the same thing in PostgreSQL, only the older one changes it. */
import type { KubeObject, Stored } from "setpoint";

/** The older one of the others, by its name. */
export function olderRival(own: Stored<KubeObject>, others: readonly Stored<KubeObject>[]): string | undefined {
  const older = others.find((each) => each.metadata.uid !== own.metadata.uid && ageOf(each) < ageOf(own));
  return older?.metadata.name;
}

function ageOf({ metadata: { creationTimestamp, name } }: Stored<KubeObject>): string {
  return `${creationTimestamp} ${name}`;
}
