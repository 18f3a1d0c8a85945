/** The usual causes of failed containers, by the words of programs and kubelets, and what to do; pure. */
import type { Container, Pod, Volume } from "@setpoint/api";

/** What a cause is called in a condition or an Event, and a sentence with what to do about it. */
export interface FailureCause {
  readonly reason: string;
  /** Empty when the words of the program say it all. */
  readonly advice: string;
}

/** A container that failed, and the words that may name the cause. */
export interface Failure {
  readonly pod: Pod;
  readonly container: Container;
  readonly text: string;
}

interface KnownCause {
  readonly pattern: RegExp;
  readonly reason: string;
  advice(failure: Failure): string;
}

const known: readonly KnownCause[] = [
  { pattern: /no space left on device|ENOSPC|disk quota exceeded/i, reason: "DiskFull", advice: fullDisk },
  { pattern: /permission denied|EACCES|operation not permitted/i, reason: "PermissionDenied", advice: deniedPath },
  { pattern: /exec format error/i, reason: "WrongArchitecture", advice: wrongArchitecture },
  { pattern: /address already in use|EADDRINUSE/i, reason: "PortTaken", advice: takenPort },
];

/** Whether a line names one of the usual causes. */
export function namesCause(line: string): boolean {
  return known.some(({ pattern }) => pattern.test(line));
}

/** The cause that the text names. */
export function causeOf(failure: Failure): FailureCause | undefined {
  const cause = known.find(({ pattern }) => pattern.test(failure.text));
  return cause === undefined ? undefined : { reason: cause.reason, advice: cause.advice(failure) };
}

/** A program that the kernel killed because it used too much memory. */
export function outOfMemory({ resources }: Container): FailureCause {
  const limit = resources?.limits?.["memory"];
  return {
    reason: "OutOfMemory",
    advice:
      limit === undefined
        ? "it has no memory limit, so its node ran out of memory"
        : `it needs more than its memory limit of ${limit}; raise the limit`,
  };
}

/** A volume of the pod, where the container has it. */
interface MountedVolume {
  readonly volume: Volume;
  readonly mountPath: string;
}

function mountedVolumes({ pod, container }: Failure): readonly MountedVolume[] {
  return (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const volume = pod.spec?.volumes?.find((each) => each.name === name);
    return volume === undefined ? [] : [{ volume, mountPath }];
  });
}

/** The volume with the first path in the text that lies in one. */
function namedVolume(failure: Failure): MountedVolume | undefined {
  const volumes = mountedVolumes(failure).toSorted((a, b) => b.mountPath.length - a.mountPath.length);
  const paths = failure.text.match(/\/[^\s:'",;()[\]]+/g) ?? [];
  const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  for (const path of paths) {
    const found = volumes.find(({ mountPath }) => isBelow(path, mountPath.replace(/\/$/, "")));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `volume "data" (claim "data-a-x1") at /var/lib/etcd` */
function volumeText({ volume, mountPath }: MountedVolume): string {
  const { persistentVolumeClaim: claim, secret, configMap } = volume;
  const sources = [
    claim === undefined ? "" : `claim "${claim.claimName}"`,
    secret === undefined ? "" : `Secret "${secret.secretName}"`,
    configMap === undefined ? "" : `ConfigMap "${configMap.name}"`,
  ];
  const source = sources.find((each) => each !== "");
  return `volume "${volume.name}"${source === undefined ? "" : ` (${source})`} at ${mountPath}`;
}

function isOfObjects({ secret, configMap, projected, downwardAPI }: Volume): boolean {
  return [secret, configMap, projected, downwardAPI].some((source) => source !== undefined);
}

function fullDisk(failure: Failure): string {
  const named = namedVolume(failure);
  if (named !== undefined) return `${volumeText(named)} is full; free space on it or enlarge it`;
  const writable = mountedVolumes(failure).filter(({ volume }) => !isOfObjects(volume));
  const volumes = writable.map(volumeText).join(" or ");
  return volumes === "" ? "the disk of its node is full" : `${volumes} is full, or the disk of its node`;
}

function deniedPath(failure: Failure): string {
  const named = namedVolume(failure);
  if (named === undefined) return "";
  const { user, group, fsGroup } = idsOf(failure);
  const who = user === undefined ? "the image's user" : `user ${user}`;
  if (isOfObjects(named.volume))
    return `${who} may not read ${volumeText(named)}; set fsGroup of the pod, or a defaultMode of the volume that allows it`;
  const refused = `${who} may not write to ${volumeText(named)}`;
  if (fsGroup === undefined) return `${refused}; set fsGroup of the pod`;
  return `${refused}, most likely because its storage does not honour fsGroup; give its folder to that user (chown ${user ?? fsGroup}:${group}), or use a storage class whose volumes honour fsGroup`;
}

interface Ids {
  readonly user: number | undefined;
  readonly group: number | undefined;
  readonly fsGroup: number | undefined;
}

function idsOf({ pod, container }: Failure): Ids {
  const [own, shared] = [container.securityContext, pod.spec?.securityContext];
  const fsGroup = shared?.fsGroup;
  const user = own?.runAsUser ?? shared?.runAsUser;
  return { user, group: fsGroup ?? own?.runAsGroup ?? shared?.runAsGroup, fsGroup };
}

function wrongArchitecture({ pod, container }: Failure): string {
  const node = pod.spec?.nodeName ?? "";
  return `its program is made for another processor than that of node "${node}", or is no program; use an image for it (${container.image ?? ""})`;
}

function takenPort({ pod, text }: Failure): string {
  const port = /:(\d{1,5})\b/.exec(text)?.[1];
  const where = pod.spec?.hostNetwork === true ? "on its node" : "in its pod";
  return `another program ${where} listens on port ${port ?? "of this number"}`;
}
