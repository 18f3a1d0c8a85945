/** How a Restore tells an engine's operator what to do with the members of an instance. */
import type { KubeObject } from "@setpoint/apimachinery";
import { z } from "zod";
import { dataLabels } from "../kinds/labels.ts";

const restoreMark = z.object({
  id: z.string(),
  /**
   * - `waiting`: a new instance whose data are being prepared: start nothing.
   * - `stop`: stop all members, and keep their volumes.
   * - `start`: start the first member on the prepared claim, then grow; keep the volumes from before.
   * - `back`: stop the members on the prepared claim, and start those from before on their volumes.
   * - `done`: the volumes from before may be deleted.
   */
  state: z.enum(["waiting", "stop", "start", "back", "done"]),
});

/** The value of an instance's annotation `data.setpoint.dev/restore`. */
export type RestoreMark = z.infer<typeof restoreMark>;

/** The restore that an instance takes part in; undefined when there is none, or nobody understands it. */
export function restoreMarkOf({ metadata }: Pick<KubeObject, "metadata">): RestoreMark | undefined {
  const text = metadata.annotations?.[dataLabels.restore];
  if (text === undefined) return undefined;
  try {
    return restoreMark.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The annotation that sets the mark. */
export function restoreAnnotation(mark: RestoreMark): Readonly<Record<string, string>> {
  return { [dataLabels.restore]: JSON.stringify(mark) };
}
