/** A node agent whose pods are sandboxed processes; see the package's README. */

// the node
export { clusterDnsAddress, kubeletPort, startNode } from "./node-agent.ts";
export type { NodeAgent, NodeOptions } from "./node-options.ts";

// images
export type { DebianClosure, ImageConfig, ImageFile, ImageSource } from "./images/image.ts";
export type { ImageProgress } from "./images/image-store.ts";

// storage
export { folderProvisionerName } from "./volumes/folder-provisioner.ts";

// errors
export type { NodeErrorCode } from "./errors.ts";
