import type { UnstructuredObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { appArmorWarnings, dropAnnotations, seccompErrors, setAppArmorProfiles } from "./pod-annotations.ts";

const podWith = (annotations: Record<string, string>): UnstructuredObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", annotations },
  spec: { containers: [{ name: "c" }] },
});
const appArmor = "container.apparmor.security.beta.kubernetes.io/c";

test.each([
  ["unconfined", { type: "Unconfined" }],
  ["runtime/default", { type: "RuntimeDefault" }],
  ["localhost/x", { type: "Localhost", localhostProfile: "x" }],
])("the AppArmor profile %s of an annotation becomes a field, with a warning", (profile, appArmorProfile) => {
  const pod = podWith({ [appArmor]: profile });
  setAppArmorProfiles(pod);
  expect(pod["spec"]).toEqual({ containers: [{ name: "c", securityContext: { appArmorProfile } }] });
  expect(appArmorWarnings(pod)).toEqual([expect.stringContaining("deprecated since v1.30")]);
});

test("a seccomp profile that there is not is refused", () => {
  const name = "seccomp.security.alpha.kubernetes.io/pod";
  expect(seccompErrors(podWith({ [name]: "runtime/default" }))).toEqual([]);
  expect(seccompErrors(podWith({ [name]: "x" }))).toMatchObject([{ field: `metadata.annotations.${name}` }]);
});

test("annotations that held init containers are dropped", () => {
  const pod = { metadata: { annotations: { "pod.beta.kubernetes.io/init-containers": "[]" } } };
  dropAnnotations(pod);
  expect(pod).toEqual({ metadata: {} });
});
