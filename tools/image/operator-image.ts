/** The name of the etcd operator's image in the manifests of this release. */
import { findReleaseOperator } from "@setpoint/cli";

export const operatorImage: string = findReleaseOperator("etcd")?.image ?? "";
