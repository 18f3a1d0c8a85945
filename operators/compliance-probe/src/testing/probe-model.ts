/** The program of the pods of runs in a simulated world: a test chooses what each act meets. */
import type { Launch, Program, ProgramModel } from "setpoint/testing";
import { type Attempt, denied } from "../acts/act.ts";
import { reportText } from "../run/probe-report.ts";
import { parseRequest, requestVariable } from "../run/probe-request.ts";

export const image = "setpoint.invalid/compliance-probe:1";
const killedCode = 137;
const runMs = 2_000;

export class ProbeModel implements ProgramModel {
  /** What the next runs see, by act; all others are denied. */
  readonly sees: Map<string, Attempt> = new Map();
  /** How containers end that report nothing. */
  failure: { readonly code: number; readonly message: string } | undefined;
  /** Whether runs never end by themselves. */
  hangs = false;

  runs(name: string): boolean {
    return name === image;
  }

  start(launch: Launch): Program {
    launch.ready(true);
    let isOver = false;
    const end = (code: number, message?: string): void => {
      if (isOver) return;
      isOver = true;
      launch.exited(code, message);
    };
    if (!this.hangs) launch.host.clock.setTimer(() => this.#finish(launch, end), runMs);
    return { terminate: () => end(0), kill: () => end(killedCode) };
  }

  #finish({ environment }: Launch, end: (code: number, message?: string) => void): void {
    if (this.failure !== undefined) return end(this.failure.code, this.failure.message);
    const { acts, reportBytesMax } = parseRequest(environment[requestVariable] ?? "");
    const attempts = new Map(acts.map((act) => [act, this.sees.get(act) ?? denied("403 forbidden")]));
    end(0, reportText(attempts, reportBytesMax));
  }
}
