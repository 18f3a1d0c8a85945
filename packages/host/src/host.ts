import type { BytePacker } from "./byte-packer.ts";
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import type { Random } from "./random.ts";
import type { Tracer } from "./tracer.ts";

/** Everything that a part takes from outside, in one parameter. */
export interface Host {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Absent: nobody traces, and it costs nothing. */
  readonly tracer?: Tracer;
  /** Absent: caches keep bytes as they are. */
  readonly packer?: BytePacker;
}
