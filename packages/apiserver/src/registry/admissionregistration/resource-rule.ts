/** The requests that a webhook or a policy is about, as configurations write them. */
export interface ResourceRule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
  /** Policies only. */
  readonly resourceNames?: readonly string[];
  readonly scope?: string;
}
