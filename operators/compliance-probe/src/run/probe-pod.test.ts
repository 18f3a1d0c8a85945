import { expect, test } from "vitest";
import { actGroups } from "../acts/act.ts";
import { ComplianceProbe } from "../kind/compliance-probe.ts";
import { probePod, probeLabel, requestedBy, runNumber } from "./probe-pod.ts";
import { parseRequest, requestVariable } from "./probe-request.ts";

const probe = (spec: Partial<ComplianceProbe["spec"]>): ComplianceProbe =>
  ComplianceProbe({ name: "shop", namespace: "team", spec });

function requests(pod: ReturnType<typeof probePod>) {
  return pod.spec?.containers.map(({ env = [] }) =>
    parseRequest(env.find(({ name }) => name === requestVariable)?.value ?? ""),
  );
}

test("each group of acts has a container, which can report to a kubelet beside the others", () => {
  const pod = probePod(probe({}), { number: 3, requested: "now" }, "probe:1");
  expect(pod.spec?.containers.map(({ name }) => name)).toEqual(actGroups);
  expect(requests(pod)?.map(({ reportBytesMax }) => reportBytesMax)).toEqual(Array.from(actGroups, () => 2_048));
  expect(pod.metadata).toMatchObject({
    name: "shop-run-3",
    namespace: "team",
    labels: { [probeLabel]: "shop" },
    annotations: { [runNumber]: "3", [requestedBy]: "now" },
  });
});

test("a selection has only the containers that it needs", () => {
  const pod = probePod(probe({ acts: ["bpf", "mount"] }), { number: 1 }, "probe:1");
  expect(pod.spec?.containers.map(({ name }) => name)).toEqual(["kernel"]);
  expect(requests(pod)).toMatchObject([{ acts: ["mount", "bpf"], reportBytesMax: 4_096 }]);
});

test("the pod is like the workload that it stands for", () => {
  const pod = probePod(
    probe({
      serviceAccountName: "shop",
      pod: {
        metadata: { labels: { app: "shop" } },
        securityContext: { runAsUser: 7 },
        containerSecurityContext: { readOnlyRootFilesystem: true },
        resources: { limits: { memory: "64Mi" } },
        nodeSelector: { disk: "fast" },
      },
    }),
    { number: 1 },
    "probe:1",
  );
  expect(pod.metadata.labels).toMatchObject({ app: "shop" });
  expect(pod.spec).toMatchObject({
    serviceAccountName: "shop",
    securityContext: { runAsUser: 7 },
    nodeSelector: { disk: "fast" },
    restartPolicy: "Never",
  });
  for (const each of pod.spec?.containers ?? [])
    expect(each).toMatchObject({
      securityContext: { readOnlyRootFilesystem: true },
      resources: { limits: { memory: "64Mi" } },
    });
});
