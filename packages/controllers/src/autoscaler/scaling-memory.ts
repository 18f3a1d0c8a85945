/** What autoscalers recommended and did lately; a new process begins without it, as upstream's does. */
import type { Recommendation, ScaleEvent, ScalingHistory } from "./scaling-rules.ts";

/** The longest window and period that the API accepts. */
const historyMsMax = 3_600_000;

interface Remembered {
  readonly recommendations: Recommendation[];
  readonly events: ScaleEvent[];
  /** The selector of its target. */
  selector: string;
}

/** By the autoscaler's UID. */
export class ScalingMemory {
  readonly #autoscalers = new Map<string, Remembered>();

  /** Its history, after what is too old for any rule was dropped. */
  history(uid: string, nowMs: number): ScalingHistory {
    const { recommendations, events } = this.#of(uid);
    for (const entries of [recommendations, events]) {
      const kept = entries.findIndex(({ atMs }) => atMs > nowMs - historyMsMax);
      entries.splice(0, kept === -1 ? entries.length : kept);
    }
    return { recommendations, events };
  }

  recommend(uid: string, recommendation: Recommendation): void {
    this.#of(uid).recommendations.push(recommendation);
  }

  scaled(uid: string, event: ScaleEvent): void {
    this.#of(uid).events.push(event);
  }

  setSelector(uid: string, selector: string): void {
    this.#of(uid).selector = selector;
  }

  /** Empty before its target was read. */
  selectorOf(uid: string): string {
    return this.#autoscalers.get(uid)?.selector ?? "";
  }

  /** Forgets an autoscaler that is gone. */
  keep(uids: ReadonlySet<string>): void {
    for (const uid of this.#autoscalers.keys()) if (!uids.has(uid)) this.#autoscalers.delete(uid);
  }

  #of(uid: string): Remembered {
    const present = this.#autoscalers.get(uid);
    if (present !== undefined) return present;
    const created: Remembered = { recommendations: [], events: [], selector: "" };
    this.#autoscalers.set(uid, created);
    return created;
  }
}
