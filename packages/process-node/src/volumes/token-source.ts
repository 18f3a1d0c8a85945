/** Service account tokens for pods, asked of the API and renewed when 80 % of their life is over. */
import type { Pod, ServiceAccountTokenProjection } from "@setpoint/api";
import type { Clock } from "@setpoint/host";
import { type Client, requestToken } from "@setpoint/client";
import { podIdentity } from "../cluster/pod.ts";

const defaultSeconds = 3_607;
const renewAtShare = 0.8;

export interface PodTokens {
  token(pod: Pod, source: ServiceAccountTokenProjection): Promise<string>;
  forget(podUid: string): void;
}

export function createPodTokens(clock: Clock, client: Client): PodTokens {
  const tokens = new Map<string, { readonly token: string; readonly renewAtMs: number }>();
  return {
    async token(pod, source) {
      const { uid } = podIdentity(pod);
      const key = `${uid}/${source.audience ?? ""}/${source.expirationSeconds ?? defaultSeconds}`;
      const known = tokens.get(key);
      if (known !== undefined && clock.now() < known.renewAtMs) return known.token;
      const fresh = await podToken(clock, client, pod, source);
      tokens.set(key, fresh);
      return fresh.token;
    },
    forget(podUid) {
      for (const key of tokens.keys()) if (key.startsWith(`${podUid}/`)) tokens.delete(key);
    },
  };
}

async function podToken(
  clock: Clock,
  client: Client,
  pod: Pod,
  source: ServiceAccountTokenProjection,
): Promise<{ token: string; renewAtMs: number }> {
  const { namespace, name, uid } = podIdentity(pod);
  const account = { namespace, name: pod.spec.serviceAccountName ?? "default" };
  const { token, expirationTimestamp } = await requestToken(client, account, {
    ...(source.audience === undefined ? {} : { audiences: [source.audience] }),
    expirationSeconds: source.expirationSeconds ?? defaultSeconds,
    boundObjectRef: { kind: "Pod", apiVersion: "v1", name, uid },
  });
  const lifeMs = Date.parse(expirationTimestamp) - clock.now();
  return { token, renewAtMs: clock.now() + lifeMs * renewAtShare };
}
