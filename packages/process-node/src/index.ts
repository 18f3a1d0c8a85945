/** A node agent whose pods are sandboxed processes; see the package's README. */

// the node
export { clusterDnsAddress, kubeletPort, startNode } from "./node/start-node.ts";
export { endNode } from "./node/abandoned-nodes.ts";
export type { NodeAgent, NodeOptions } from "./node/node-options.ts";
export type { MissingPackage, ToolNeed, ToolSearch } from "./host/host-tools.ts";
export { missingPackages, missingSentence } from "./host/host-tools.ts";
export { requireTools } from "./sandbox/required-tools.ts";

// what it does not do
export { podNotices } from "./pod/pod-notices.ts";

// the network
export type { ClusterAddresses } from "./network/base-rules.ts";
export { apiPort, podRange } from "./network/base-rules.ts";
export { openClusterNetwork } from "./network/cluster-network.ts";
export type { ClusterNetwork, ClusterNetworkOptions } from "./network/cluster-network.ts";
export { clearFaults, injectFault, listFaults } from "./network/inject-fault.ts";
export { inCidr } from "./network/ipv4.ts";
export { readHolder } from "./network/namespace-holder.ts";
export type { HolderOptions, NetworkNamespace } from "./network/namespace-holder.ts";
export { hostAddress } from "./network/pod-addresses.ts";
export { NamespaceSockets } from "./network/namespace-sockets.ts";
export type { PodNetworkOptions } from "./network/node-network.ts";
export type { NetworkFault } from "./network/pod-network.ts";

// images
export { debianCatalogue } from "./images/debian-catalogue.ts";
export type { CatalogueEntry } from "./images/catalogue-entry.ts";
export { createImageCatalog } from "./images/image-catalog.ts";
export type { ImageCatalog } from "./images/image-catalog.ts";
export type {
  DebianClosure,
  ImageConfig,
  ImageFile,
  ImageSource,
  LocalImage,
  UndescribedImage,
} from "./images/image.ts";
export { parseImageCatalogue } from "./images/image-catalogue-file.ts";
export { loadImages } from "./images/oci/load-images.ts";
export type { LoadImagesOptions } from "./images/oci/load-images.ts";
export { LoadedImages } from "./images/oci/loaded-images.ts";
export type { LoadedImage } from "./images/oci/loaded-images.ts";
export type { ArchiveLimits } from "./images/oci/limits.ts";
export { withBuildLock } from "./images/build-lock.ts";
export { ImageStore } from "./images/image-store.ts";
export type { ImageProgress, ImageStoreOptions } from "./images/image-store.ts";

// storage
export { folderProvisionerName } from "./volumes/folder-provisioner.ts";

// errors
export type { NodeErrorCode } from "./errors.ts";
