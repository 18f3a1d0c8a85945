/** The members of one instance, as the parts of this folder see them. */
export interface MemberSet {
  /** The name of the instance; the value of `label` on everything that belongs to it. */
  readonly name: string;
  readonly namespace: string;
  readonly uid: string | undefined;
  /** The key of the label by which Services and budgets select the members. */
  readonly label: string;
}
