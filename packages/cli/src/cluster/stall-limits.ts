/**
 * When a control plane or an agent that stands still says where, and when it ends. Later than an operator:
 * nobody takes over from them, and a disk that is slow to sync stops them, too.
 */
export const stallLimits = { reportMs: 5_000, endMs: 60_000 } as const;
