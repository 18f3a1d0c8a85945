/** The releases of etcd that the tests build because no Debian suite has them. */
import { missingForBuilds } from "./etcd-build.ts";

/** The newest of both minors: from 3.5.26 on, 3.6 can be reached. */
export const builtVersions = { v35: "3.5.35", v36: "3.6.16" } as const;

/** Why tests of them are skipped; empty when they can run. */
export const missingVersions: string = missingForBuilds();
