/** What fits a configuration to a version: the version, and where reports of ignored fields go. */
import type { Version } from "../generate/version.ts";

/** Takes each field that is left out, and why. */
export type Report = (path: string, message: string) => void;

export interface Fitting {
  readonly version: Version;
  readonly report: Report;
}
