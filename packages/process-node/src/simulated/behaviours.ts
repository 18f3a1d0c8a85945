/** What a simulated container does: the place where a model of a program is plugged in. */
import type { Container, Pod } from "../pod/pod.ts";

export interface SimulatedProcess {
  readonly exited: Promise<{ readonly exitCode: number }>;
  /** What its probes see. */
  ready(): boolean;
  /** After SIGKILL it must end without delay; after SIGTERM as the program would. */
  stop(signal: "SIGTERM" | "SIGKILL"): void;
}

export interface SimulatedBehaviours {
  /** `pod.status.podIP` is set. Throwing is a container that cannot be started: it is tried again with back-off. */
  onContainerStart(pod: Pod, container: Container): SimulatedProcess;
}

/** Runs until it is stopped, and is always ready. */
export function idleProcess(): SimulatedProcess {
  const exit = Promise.withResolvers<{ readonly exitCode: number }>();
  return {
    exited: exit.promise,
    ready: () => true,
    stop: (signal) => exit.resolve({ exitCode: signal === "SIGKILL" ? 137 : 143 }),
  };
}
