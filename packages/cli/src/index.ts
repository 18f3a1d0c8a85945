/** The parts of the `setpoint` command, for programs that start a cluster themselves. */
export type { Cluster, ClusterOptions } from "./cluster/cluster.ts";
export { imageCacheFolder, startCluster } from "./cluster/cluster.ts";
export { prepareFolder } from "./cluster/prepare-folder.ts";
export { untilSignal } from "./command.ts";
export type { UpOptions } from "./commands/up.ts";
export { parseUpOptions } from "./commands/up.ts";
export { ownImage, writeOwnImage } from "./release/own-images.ts";
export type { ReleaseOperator } from "./release/release-operators.ts";
export { findReleaseOperator } from "./release/release-operators.ts";
export { applyObjects } from "./install/apply-objects.ts";
export { writeImageArchive } from "./image/image-archive.ts";
export { sentenceOf } from "./sentence-of.ts";
export { manifestsYaml } from "./manifests/manifests-yaml.ts";
export { writeText } from "./write-text.ts";
