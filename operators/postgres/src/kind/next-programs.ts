/** How the pod that upgrades the data gets the programs of the next major version: from their own image. */
import type { Pod } from "setpoint/kinds";
import { nextProgramsPath, programPath } from "./names.ts";

type PodSpec = NonNullable<Pod["spec"]>;
type Container = PodSpec["containers"][number];

/** Runs our program, which another container has brought into the pod before. */
export function nextProgramsContainer(
  image: string,
  securityContext: NonNullable<Container["securityContext"]>,
): Container {
  return {
    name: "next-programs",
    image,
    imagePullPolicy: "IfNotPresent",
    command: [`${programPath}/lib/ld.so`, "--library-path", `${programPath}/lib`, `${programPath}/node`],
    args: [`${programPath}/program/manager/upgrade/copy-main.js`, nextProgramsPath],
    volumeMounts: [
      { name: "program", mountPath: programPath, readOnly: true },
      { name: "next", mountPath: nextProgramsPath },
    ],
    securityContext,
    terminationMessagePolicy: "FallbackToLogsOnError",
  };
}
