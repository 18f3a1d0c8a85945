/** The pod that this process runs in, as acts see it. */
import { lookup } from "node:dns/promises";
import type { ProbedPod } from "../acts/probed-pod.ts";
import { podVariables, type ProbeRequest, scratchFolder } from "../run/probe-request.ts";
import { askApi } from "./ask-api.ts";
import { ask } from "./http-request.ts";
import { podFiles } from "./pod-files.ts";
import { readToken } from "./pod-token.ts";
import { callKernel, startThreads } from "./kernel-process.ts";
import { reach } from "./reach.ts";

/** `env` has what the operator and the kubelet put into the container. */
export function realPod(
  { otherNamespace, deniedServices, image }: ProbeRequest,
  env: Readonly<Record<string, string | undefined>>,
): ProbedPod {
  const variable = (key: keyof typeof podVariables): string => env[podVariables[key]] ?? "";
  return {
    surroundings: {
      namespace: variable("namespace"),
      serviceAccount: variable("serviceAccount"),
      pod: variable("pod"),
      node: variable("node"),
      nodeAddress: variable("nodeAddress"),
      ...{ image, otherNamespace, deniedServices },
    },
    files: podFiles,
    userId: process.getuid?.() ?? 0,
    scratch: scratchFolder,
    api: (request) => askApi(request, env),
    call: callKernel,
    fetch: async (url, { sendsToken = false } = {}) => {
      const token = sendsToken ? await readToken() : undefined;
      return ask(url, { method: "GET", ...(token === undefined ? {} : { token }) });
    },
    resolve: async (host) => (await lookup(host)).address,
    reach: (host, port) => reach({ host, port }),
    startThreads,
  };
}
