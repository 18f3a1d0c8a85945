/**
 * Writes the manifests that install our operators. Run from the repository's root:
 *
 *     node --conditions=@setpoint/source tools/manifests/main.ts
 */
import { writeFile } from "node:fs/promises";
import { complianceManifests, complianceManifestsFile } from "./compliance-manifests.ts";
import { etcdManifests, etcdManifestsFile, etcdMonitor, etcdMonitorFile } from "./etcd-manifests.ts";
import {
  postgresManifests,
  postgresManifestsFile,
  postgresMonitor,
  postgresMonitorFile,
} from "./postgres-manifests.ts";
import { prometheusManifests, prometheusManifestsFile } from "./prometheus-manifests.ts";
import { hatefulSetManifests, hatefulSetManifestsFile } from "./hateful-set-manifests.ts";
import { bindingManifests, bindingManifestsFile } from "./binding-manifests.ts";

await writeFile(etcdManifestsFile, etcdManifests());
await writeFile(etcdMonitorFile, etcdMonitor());
await writeFile(bindingManifestsFile, bindingManifests());
await writeFile(postgresManifestsFile, postgresManifests());
await writeFile(postgresMonitorFile, postgresMonitor());
await writeFile(hatefulSetManifestsFile, hatefulSetManifests());
await writeFile(prometheusManifestsFile, prometheusManifests());
await writeFile(complianceManifestsFile, complianceManifests());
