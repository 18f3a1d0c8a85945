/** The rules by which webhook configurations and policies match requests. */
export interface ResourceRule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
  /** Policies only. */
  readonly resourceNames?: readonly string[];
  readonly scope?: string;
}
