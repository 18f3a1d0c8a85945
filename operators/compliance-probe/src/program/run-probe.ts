/** The program of a container of a run: tries its acts one after the other, and reports after each. */
import { writeFileSync } from "node:fs";
import type { Act, Attempt } from "../acts/act.ts";
import { untried } from "../acts/act.ts";
import { findAct } from "../acts/catalogue.ts";
import { errorCode, type ProbedPod } from "../acts/probed-pod.ts";
import { reportText } from "../run/probe-report.ts";
import { parseRequest, requestVariable } from "../run/probe-request.ts";
import { realPod } from "./real-pod.ts";

/** From here the kubelet takes the report. */
const terminationLog = "/dev/termination-log";
const actMsMax = 20_000;

/** Resolves to the exit code: it is 0 whatever is allowed, because a run that ended has done its work. */
export async function runProbe(env: Readonly<Record<string, string | undefined>> = process.env): Promise<number> {
  const request = parseRequest(env[requestVariable] ?? "");
  const pod = realPod(request, env);
  const attempts = new Map<string, Attempt>();
  for (const name of request.acts) {
    const act = findAct(name);
    const attempt = act === undefined ? untried("this image does not know the act") : await tried(act, pod);
    attempts.set(name, attempt);
    process.stdout.write(`${name}: ${attempt.verdict}: ${attempt.reason}\n`);
    // After each, so that an act that ends the container hides none of those before.
    writeFileSync(terminationLog, reportText(attempts, request.reportBytesMax));
  }
  return 0;
}

/** An act that fails or hangs says nothing about the others. */
async function tried(act: Act, pod: ProbedPod): Promise<Attempt> {
  const signal = AbortSignal.timeout(actMsMax);
  const tooLong = new Promise<Attempt>((resolve) =>
    signal.addEventListener("abort", () => resolve(untried(`it took longer than ${actMsMax / 1_000} s`)), {
      once: true,
    }),
  );
  const attempt = act.attempt(pod).catch((error: unknown) => untried(errorCode(error)));
  return Promise.race([attempt, tooLong]);
}
