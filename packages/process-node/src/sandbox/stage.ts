/**
 * The last steps before the runtime starts a container, in a mount namespace that only this start sees: the
 * root's skeleton is copied into memory at a path that the pod's user may walk to, and each subPath is bound
 * from a view of its volume in which the kernel follows no link. So no container can turn a path of its own
 * into one of the host, not even while it is mounted, and nothing stays mounted when the runtime ends.
 *
 * /dev/null is a device of this start's own: crun gives the streams of a container to its user, and conmon
 * opens /dev/null as the first of them. The host's would belong to the pod, which could then close it to all
 * other programs.
 */

export interface StagedPath {
  /** The volume's folder. */
  readonly volume: string;
  /** Beneath it; made when it is missing, with the owner and the mode of the volume. */
  readonly path: string;
  /** The name in the stage by which the mount refers to it. */
  readonly name: string;
}

export interface Stage {
  /**
   * An empty folder of the node whose path every user can traverse (as root) or that belongs to the node's
   * user.
   */
  readonly directory: string;
  /** Lines of the shell that come first; see `HostCgroups.prepare`. */
  readonly prepare: string;
  /** Root's skeleton, already with its owners. */
  readonly skeleton: string;
  readonly owner: { readonly uid: number; readonly gid: number };
  /** What a container may write into its root, in memory. */
  readonly rootBytes: number;
  readonly paths: readonly StagedPath[];
}

export function stagedRoot(directory: string): string {
  return `${directory}/root`;
}

export function stagedPath(directory: string, name: string): string {
  return `${directory}/paths/${name}`;
}

/**
 * Arguments: stage, skeleton, user, group, size; triples of volume, path and name; `--`; what to run. As few
 * programs as possible run here: each start of a container waits for them.
 */
const script = `make() {
  at=$1 rest=$2
  while [ -n "$rest" ]; do
    case $rest in */*) part=\${rest%%/*} rest=\${rest#*/} ;; *) part=$rest rest= ;; esac
    at=$at/$part
    [ -e "$at" ] || { mkdir "$at"; chown --reference="$1" "$at"; chmod --reference="$1" "$at"; }
  done
}
stage=$1 skeleton=$2 options="nodev,mode=0755,uid=$3,gid=$4,size=$5"
shift 5
[ -d "$stage/paths" ] || mkdir -p "$stage/root" "$stage/paths"
mount -n -t tmpfs -o "$options" setpoint "$stage/root"
cp -a "$skeleton/." "$stage/root"
mount -n -t tmpfs -o mode=0755 setpoint "$stage/paths"
if mknod -m 666 "$stage/paths/null" c 1 3 2>/dev/null; then
  mount -n -c --bind "$stage/paths/null" /dev/null
elif chown --reference=/dev/null /dev/null 2>/dev/null; then
  echo "Cannot make a /dev/null of the container's own, and the host's would be given to it; allow mknod" >&2
  exit 1
fi
while [ "$1" != -- ]; do
  view="$stage/paths/view-$3" target="$stage/paths/$3"
  mkdir "$view"
  mount -n -c --bind "$1" "$view"
  mount -n -c -o remount,bind,nosymfollow "$view"
  [ -e "$view/$2" ] || make "$view" "$2"
  if [ -d "$view/$2" ]; then mkdir "$target"; else : >"$target"; fi
  mount -n -c --bind "$view/$2" "$target"
  mount -n -c -o remount,bind,symfollow "$target"
  shift 3
done
shift
exec "$@"`;

/** The command that makes the stage and then becomes `command`; for a mount namespace of its own. */
export function stageCommand(stage: Stage, command: readonly string[]): string[] {
  const { directory, prepare, skeleton, owner, rootBytes, paths } = stage;
  const start = `set -eu\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n${prepare}`;
  const triples = paths.flatMap(({ volume, path, name }) => [volume, path, name]);
  const settings = [directory, skeleton, String(owner.uid), String(owner.gid), String(rootBytes)];
  return ["/bin/sh", "-c", `${start}\n${script}`, "setpoint-stage", ...settings, ...triples, "--", ...command];
}
