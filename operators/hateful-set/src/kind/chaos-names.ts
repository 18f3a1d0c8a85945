/** Labels and annotations of chaos. */
export const chaosNames = {
  /**
   * A label: `enabled` opts in, `disabled` opts out and wins. On a pod, on an object that owns it, on its
   * namespace, or on a node.
   */
  chaos: "control-plane.io/chaos",
  /** A label of a NetworkPolicy that is a fault: the HatefulSet that made it, and undoes it. */
  fault: "control-plane.io/fault-of",
  /** An annotation of a HatefulSet: a new text asks for one act now. */
  strike: "control-plane.io/strike",
  /** An annotation of a HatefulSet: a new text lets it go on after an abort. */
  resume: "control-plane.io/resume",
} as const;
