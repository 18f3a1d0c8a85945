/**
 * The checks of the level "restricted" beyond "baseline": current pod hardening practice.
 */
import { type JsonObject, objectsAt, stringAt } from "../../registry/json-fields.ts";
import { badSeccomp, hasGoodSeccomp } from "./baseline-checks.ts";
import {
  type CheckedPod,
  contextOf,
  counted,
  distinct,
  namesOf,
  quoted,
  type SecurityCheck,
  setters,
  stringsAt,
  type Violation,
} from "./security-check.ts";

export const restrictedChecks: readonly SecurityCheck[] = [
  { id: "allowPrivilegeEscalation", since: 8, check: privilegeEscalation },
  { id: "capabilities_restricted", since: 22, overrides: ["capabilities_baseline"], check: capabilities },
  { id: "restrictedVolumes", since: 0, overrides: ["hostPathVolumes"], check: volumes },
  { id: "runAsNonRoot", since: 0, check: runAsNonRoot },
  { id: "runAsUser", since: 23, check: runAsUser },
  { id: "seccompProfile_restricted", since: 19, overrides: ["seccompProfile_baseline"], check: seccomp },
];

/** Since 1.25 what only Linux has is not asked of pods for Windows. */
function isForWindows({ spec }: CheckedPod, minor: number): boolean {
  return minor >= 25 && stringAt(spec, "os", "name") === "windows";
}

function privilegeEscalation(pod: CheckedPod, minor: number): Violation | undefined {
  if (isForWindows(pod, minor)) return undefined;
  const bad = namesOf(pod, (container) => contextOf(container)["allowPrivilegeEscalation"] !== false);
  if (bad.length === 0) return undefined;
  const detail = `${counted("container", bad)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: "allowPrivilegeEscalation != false", detail };
}

function capabilities(pod: CheckedPod, minor: number): Violation | undefined {
  if (isForWindows(pod, minor)) return undefined;
  const forbidden = (container: JsonObject): readonly string[] =>
    stringsAt(contextOf(container), "capabilities", "add").filter((each) => each !== "NET_BIND_SERVICE");
  const keeping = namesOf(pod, (each) => !stringsAt(contextOf(each), "capabilities", "drop").includes("ALL"));
  const adding = namesOf(pod, (each) => forbidden(each).length > 0);
  const added = quoted(distinct(pod.containers.flatMap(forbidden)));
  const details = [
    ...(keeping.length === 0
      ? []
      : [`${counted("container", keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [`${counted("container", adding)} must not include ${added} in securityContext.capabilities.add`]),
  ];
  return details.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: details.join("; ") };
}

const allowedVolumes: ReadonlySet<string> = new Set(
  "configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret".split(" "),
);

function volumes({ spec }: CheckedPod): Violation | undefined {
  const typesOf = (volume: JsonObject): readonly string[] => Object.keys(volume).filter((field) => field !== "name");
  const bad = objectsAt(spec, "volumes").filter((volume) => !typesOf(volume).some((type) => allowedVolumes.has(type)));
  if (bad.length === 0) return undefined;
  const types = distinct(bad.flatMap((volume) => (typesOf(volume).length === 0 ? ["unknown"] : typesOf(volume))));
  const names = counted(
    "volume",
    bad.map((volume) => stringAt(volume, "name")),
  );
  const noun = types.length === 1 ? "restricted volume type" : "restricted volume types";
  return {
    reason: "restricted volume types",
    detail: `${names} ${bad.length === 1 ? "uses" : "use"} ${noun} ${quoted(types)}`,
  };
}

function runAsNonRoot(pod: CheckedPod): Violation | undefined {
  const reason = "runAsNonRoot != true";
  const of = (holder: JsonObject): unknown => contextOf(holder)["runAsNonRoot"];
  const isPodBad = of(pod.spec) === false;
  const bad = namesOf(pod, (container) => of(container) === false);
  if (isPodBad || bad.length > 0)
    return { reason, detail: `${setters(isPodBad, bad)} must not set securityContext.runAsNonRoot=false` };
  const unset = of(pod.spec) === true ? [] : namesOf(pod, (container) => of(container) !== true);
  if (unset.length === 0) return undefined;
  return { reason, detail: `pod or ${counted("container", unset)} must set securityContext.runAsNonRoot=true` };
}

function runAsUser(pod: CheckedPod): Violation | undefined {
  const isRoot = (holder: JsonObject): boolean => contextOf(holder)["runAsUser"] === 0;
  const bad = namesOf(pod, isRoot);
  if (bad.length === 0 && !isRoot(pod.spec)) return undefined;
  return { reason: "runAsUser=0", detail: `${setters(isRoot(pod.spec), bad)} must not set runAsUser=0` };
}

function seccomp(pod: CheckedPod, minor: number): Violation | undefined {
  if (isForWindows(pod, minor)) return undefined;
  const bad = badSeccomp(pod);
  if (bad !== undefined || hasGoodSeccomp(pod.spec)) return bad;
  const unset = namesOf(pod, (container) => !hasGoodSeccomp(container));
  if (unset.length === 0) return undefined;
  const wanted = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: "seccompProfile", detail: `pod or ${counted("container", unset)} ${wanted}` };
}
