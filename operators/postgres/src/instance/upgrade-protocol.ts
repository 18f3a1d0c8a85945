/** What the operator and an instance manager say to each other about a change of the major version. */

/** What an upgrade asks of one instance now. */
export interface WantedUpgrade {
  /** Of this one attempt. */
  readonly id: string;
  readonly instance: string;
  readonly from: string;
  readonly to: string;
  /**
   * `check`: whether the data can be upgraded, while the server runs. `stop`: the server stops. `run`: the
   * data are upgraded. `return`: the safety copy takes their place.
   */
  readonly step: "check" | "stop" | "run" | "return";
  /** A timeline that no instance has begun; with `return`, the newest one that was begun. */
  readonly timeline: number;
}

/** What an instance says of an upgrade. */
export interface UpgradeReport {
  readonly id: string;
  readonly state: "checking" | "compatible" | "refused" | "upgrading" | "upgraded" | "failed";
  /** Why it is refused or failed, each with what to do. */
  readonly problems?: readonly string[] | undefined;
  /** PostgreSQL's own identifier of the upgraded data. */
  readonly systemId?: string | undefined;
}
