/** The checks of the level "baseline": they prevent known privilege escalations. */
import { isJsonObject, type JsonObject, objectAt, objectsAt, stringAt, valueAt } from "../../registry/json-fields.ts";
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

const defaultCapabilities: ReadonlySet<string> = new Set(
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split(
    " ",
  ),
);

/** By the minor version that allowed them first. */
const allowedSysctls: readonly (readonly [since: number, name: string])[] = [
  [0, "kernel.shm_rmid_forced"],
  [0, "net.ipv4.ip_local_port_range"],
  [0, "net.ipv4.tcp_syncookies"],
  [0, "net.ipv4.ping_group_range"],
  [0, "net.ipv4.ip_unprivileged_port_start"],
  [27, "net.ipv4.ip_local_reserved_ports"],
  [29, "net.ipv4.tcp_keepalive_time"],
  [29, "net.ipv4.tcp_fin_timeout"],
  [29, "net.ipv4.tcp_keepalive_intvl"],
  [29, "net.ipv4.tcp_keepalive_probes"],
  [32, "net.ipv4.tcp_rmem"],
  [32, "net.ipv4.tcp_wmem"],
];

export const baselineChecks: readonly SecurityCheck[] = [
  { id: "appArmorProfile", since: 0, check: appArmor },
  { id: "capabilities_baseline", since: 0, check: capabilities },
  { id: "hostNamespaces", since: 0, check: hostNamespaces },
  { id: "hostPathVolumes", since: 0, check: hostPaths },
  { id: "hostPorts", since: 0, check: hostPorts },
  { id: "hostProbesAndhostLifecycle", since: 34, check: probeHosts },
  { id: "privileged", since: 0, check: privileged },
  { id: "procMount", since: 0, check: procMount },
  { id: "seLinuxOptions", since: 0, check: seLinux },
  { id: "seccompProfile_baseline", since: 0, check: seccomp },
  { id: "sysctls", since: 0, check: sysctls },
  { id: "windowsHostProcess", since: 0, check: hostProcess },
];

const appArmorAnnotation = "container.apparmor.security.beta.kubernetes.io/";

function appArmor(pod: CheckedPod): Violation | undefined {
  const typeOf = (holder: JsonObject): string => stringAt(contextOf(holder), "appArmorProfile", "type");
  const isBad = (holder: JsonObject): boolean => !["", "RuntimeDefault", "Localhost"].includes(typeOf(holder));
  const annotations = Object.entries(pod.annotations).filter(
    ([key, value]) => key.startsWith(appArmorAnnotation) && !isAllowedAppArmor(value),
  );
  const bad = namesOf(pod, isBad);
  const types = distinct([pod.spec, ...pod.containers].filter(isBad).map(typeOf));
  const details = annotations.map(([key, value]) => `${key}=${JSON.stringify(value)}`).sort();
  if (types.length > 0)
    details.unshift(`${setters(isBad(pod.spec), bad)} must not set AppArmor profile type to ${quoted(types)}`);
  const reason = annotations.length + types.length === 1 ? "forbidden AppArmor profile" : "forbidden AppArmor profiles";
  return details.length === 0 ? undefined : { reason, detail: details.join(", ") };
}

function isAllowedAppArmor(profile: string): boolean {
  return profile === "" || profile === "runtime/default" || profile.startsWith("localhost/");
}

function capabilities(pod: CheckedPod): Violation | undefined {
  const forbidden = (container: JsonObject): readonly string[] =>
    stringsAt(contextOf(container), "capabilities", "add").filter((each) => !defaultCapabilities.has(each));
  const bad = namesOf(pod, (container) => forbidden(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = quoted(distinct(pod.containers.flatMap(forbidden)));
  const detail = `${counted("container", bad)} must not include ${names} in securityContext.capabilities.add`;
  return { reason: "non-default capabilities", detail };
}

function hostNamespaces({ spec }: CheckedPod): Violation | undefined {
  const set = ["hostNetwork", "hostPID", "hostIPC"].filter((field) => spec[field] === true);
  if (set.length === 0) return undefined;
  return { reason: "host namespaces", detail: set.map((field) => `${field}=true`).join(", ") };
}

function hostPaths({ spec }: CheckedPod): Violation | undefined {
  const names = objectsAt(spec, "volumes")
    .filter((volume) => volume["hostPath"] !== undefined)
    .map((volume) => stringAt(volume, "name"));
  return names.length === 0 ? undefined : { reason: "hostPath volumes", detail: counted("volume", names) };
}

function hostPorts(pod: CheckedPod): Violation | undefined {
  const used = (container: JsonObject): readonly string[] =>
    objectsAt(container, "ports")
      .map(({ hostPort }) => hostPort)
      .filter((port) => typeof port === "number" && port !== 0)
      .map(String);
  const bad = namesOf(pod, (container) => used(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = distinct(pod.containers.flatMap(used));
  const noun = ports.length === 1 ? "hostPort" : "hostPorts";
  const detail = `${counted("container", bad)} ${bad.length === 1 ? "uses" : "use"} ${noun} ${ports.join(", ")}`;
  return { reason: "hostPort", detail };
}

/** The kubelet connects to them from the host's network. */
function probeHosts(pod: CheckedPod): Violation | undefined {
  const bad = namesOf(pod, (container) => hostsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const hosts = distinct(pod.containers.flatMap(hostsOf));
  const noun = hosts.length === 1 ? "probe or lifecycle host" : "probe or lifecycle hosts";
  const detail = `${counted("container", bad)} ${bad.length === 1 ? "uses" : "use"} ${noun} ${quoted(hosts)}`;
  return { reason: "probe or lifecycle host", detail };
}

function hostsOf(container: JsonObject): readonly string[] {
  const probes = ["livenessProbe", "readinessProbe", "startupProbe"].map((field) => objectAt(container, field));
  const hooks = ["postStart", "preStop"].map((field) => objectAt(container, "lifecycle", field));
  return [...probes, ...hooks]
    .flatMap((handler) => ["httpGet", "tcpSocket"].map((kind) => stringAt(handler, kind, "host")))
    .filter((host) => host !== "");
}

function privileged(pod: CheckedPod): Violation | undefined {
  const bad = namesOf(pod, (container) => contextOf(container)["privileged"] === true);
  if (bad.length === 0) return undefined;
  return { reason: "privileged", detail: `${counted("container", bad)} must not set securityContext.privileged=true` };
}

function procMount(pod: CheckedPod): Violation | undefined {
  const mountOf = (container: JsonObject): string => stringAt(contextOf(container), "procMount");
  const isBad = (container: JsonObject): boolean => !["", "Default"].includes(mountOf(container));
  const bad = namesOf(pod, isBad);
  if (bad.length === 0) return undefined;
  const types = quoted(distinct(pod.containers.filter(isBad).map(mountOf)));
  return {
    reason: "procMount",
    detail: `${counted("container", bad)} must not set securityContext.procMount to ${types}`,
  };
}

function seLinux(pod: CheckedPod, minor: number): Violation | undefined {
  const types = [
    "",
    "container_t",
    "container_init_t",
    "container_kvm_t",
    ...(minor >= 31 ? ["container_engine_t"] : []),
  ];
  const of = (holder: JsonObject, field: string): string => stringAt(contextOf(holder), "seLinuxOptions", field);
  const isBad = (holder: JsonObject): boolean =>
    !types.includes(of(holder, "type")) || of(holder, "user") !== "" || of(holder, "role") !== "";
  const bad = [pod.spec, ...pod.containers].filter(isBad);
  if (bad.length === 0) return undefined;
  const wrongTypes = distinct(bad.map((holder) => of(holder, "type")).filter((type) => !types.includes(type)));
  const data = [
    ...(wrongTypes.length === 0 ? [] : [counted("type", wrongTypes)]),
    ...(bad.some((holder) => of(holder, "user") !== "") ? ["user may not be set"] : []),
    ...(bad.some((holder) => of(holder, "role") !== "") ? ["role may not be set"] : []),
  ];
  const who = setters(isBad(pod.spec), namesOf(pod, isBad));
  return {
    reason: "seLinuxOptions",
    detail: `${who} set forbidden securityContext.seLinuxOptions: ${data.join("; ")}`,
  };
}

/**
 * The pod and containers that set a profile other than the two allowed ones; restricted starts with this
 * check too.
 */
export function badSeccomp(pod: CheckedPod): Violation | undefined {
  const profileOf = (holder: JsonObject): unknown => contextOf(holder)["seccompProfile"];
  const isBad = (holder: JsonObject): boolean => isJsonObject(profileOf(holder)) && !hasGoodSeccomp(holder);
  const bad = [pod.spec, ...pod.containers].filter(isBad);
  if (bad.length === 0) return undefined;
  const types = quoted(distinct(bad.map((holder) => stringAt(profileOf(holder), "type"))));
  const who = setters(isBad(pod.spec), namesOf(pod, isBad));
  return { reason: "seccompProfile", detail: `${who} must not set securityContext.seccompProfile.type to ${types}` };
}

export function hasGoodSeccomp(holder: JsonObject): boolean {
  return ["RuntimeDefault", "Localhost"].includes(stringAt(contextOf(holder), "seccompProfile", "type"));
}

const seccompAnnotation = "seccomp.security.alpha.kubernetes.io/pod";

/** Before 1.19 the profile was an annotation. */
function seccomp(pod: CheckedPod, minor: number): Violation | undefined {
  if (minor >= 19) return badSeccomp(pod);
  const keys = [
    seccompAnnotation,
    ...pod.containers.map((each) => `container.${seccompAnnotation.slice(0, -3)}${stringAt(each, "name")}`),
  ];
  const isBad = (value: string | undefined): boolean =>
    value !== undefined && !["runtime/default", "docker/default"].includes(value) && !value.startsWith("localhost/");
  const bad = distinct(
    keys.filter((key) => isBad(pod.annotations[key])).map((key) => `${key}=${JSON.stringify(pod.annotations[key])}`),
  );
  if (bad.length === 0) return undefined;
  const noun = bad.length === 1 ? "annotation" : "annotations";
  return { reason: "seccompProfile", detail: `forbidden ${noun} ${bad.join(", ")}` };
}

function sysctls({ spec }: CheckedPod, minor: number): Violation | undefined {
  const allowed = new Set(allowedSysctls.filter(([since]) => since <= minor).map(([, name]) => name));
  const names = objectsAt(spec, "securityContext", "sysctls").map((each) => stringAt(each, "name"));
  const forbidden = names.filter((name) => !allowed.has(name));
  return forbidden.length === 0 ? undefined : { reason: "forbidden sysctls", detail: forbidden.join(", ") };
}

function hostProcess(pod: CheckedPod): Violation | undefined {
  const isBad = (holder: JsonObject): boolean => valueAt(contextOf(holder), "windowsOptions", "hostProcess") === true;
  const bad = namesOf(pod, isBad);
  if (bad.length === 0 && !isBad(pod.spec)) return undefined;
  const detail = `${setters(isBad(pod.spec), bad)} must not set securityContext.windowsOptions.hostProcess=true`;
  return { reason: "hostProcess", detail };
}
