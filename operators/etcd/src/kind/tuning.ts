/** The timeouts of etcd that follow from the network between its members; fields of an EtcdCluster. */
import { z } from "zod";

/** etcd's own; they are for one data centre, and nothing goes below them. */
export const heartbeatMsDefault = 100;
export const electionMsDefault = 1_000;

export const tuningSpec = z
  .enum(["auto", "off"])
  .default("off")
  .describe(
    "auto: heartbeat-interval and election-timeout follow from the round-trip times between members, as etcd's tuning guide says. Options of the spec win, and changes reach members one at a time.",
  );

export const tuningStatus = z
  .object({
    heartbeatMilliseconds: z.int(),
    electionMilliseconds: z.int(),
    measuredMilliseconds: z.int().describe("The longest average round trip between two members when this was decided."),
    between: z.array(z.string()).describe("These two members."),
    since: z.string(),
    message: z.string().describe("What was measured, and what follows."),
  })
  .describe("With `tuning: auto`, once members have been measured for ten minutes.");
