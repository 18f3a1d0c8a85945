/** The Deployment with the one pod of a mirror; pure. */
import { agentMounts, restricted, securedPod } from "@setpoint/data-service";
import { Deployment } from "setpoint/kinds";
import { type MirrorRequest, mirrorCommand, mirrorPaths, mirrorRequestVariable } from "./mirror-request.ts";

/** A pod that receives SIGTERM has its record written already. */
const graceSeconds = 5;

export const mirrorLabel = "etcd.setpoint.dev/mirror";

export interface MirrorPlace {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** The operator's own. */
  readonly image: string;
}

/** What the pod connects with. */
export interface MirrorConnection {
  readonly request: MirrorRequest;
  readonly sourceSecrets: readonly string[];
  readonly destinationSecrets: readonly string[];
}

/** Two pods at a time would take each other's place, so the old one ends first. */
export function mirrorDeployment(place: MirrorPlace, connection: MirrorConnection): Deployment {
  const labels = { [mirrorLabel]: place.uid };
  const mounts = [
    ...agentMounts("source", connection.sourceSecrets, mirrorPaths.source),
    ...agentMounts("destination", connection.destinationSecrets, mirrorPaths.destination),
  ];
  const container = {
    name: "mirror",
    image: place.image,
    args: [mirrorCommand],
    env: [{ name: mirrorRequestVariable, value: JSON.stringify(connection.request) }],
    ...restricted(mounts),
  };
  return Deployment({
    name: `${place.name}-mirror`,
    namespace: place.namespace,
    spec: {
      replicas: 1,
      strategy: { type: "Recreate" },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { ...securedPod(mounts), terminationGracePeriodSeconds: graceSeconds, containers: [container] },
      },
    },
  });
}
