/** What the operator and the program in a mirror's pod say to each other. There are no secrets in it. */
import { z } from "zod";

/** The first argument of the operator's image in a mirror's pod. */
export const mirrorCommand = "mirror";

/** The environment variable that holds the request. */
export const mirrorRequestVariable = "SETPOINT_MIRROR_REQUEST";

/** Where the pod finds the files of its Secrets. */
export const mirrorPaths = { source: "/run/setpoint/source", destination: "/run/setpoint/destination" } as const;

const endpoints = z.array(z.url({ protocol: /^https?$/ })).min(1);

export const mirrorRequest = z.object({
  source: endpoints,
  destination: endpoints,
  prefix: z.string(),
  destinationPrefix: z.string(),
  recordKey: z.string(),
  replacesKeys: z.boolean(),
});
export type MirrorRequest = z.infer<typeof mirrorRequest>;
