/** Service account tokens for pods, asked of the API and renewed when 80 % of their life is over. */
import type { Clock } from "@setpoint/host";
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ClusterApi } from "../cluster/cluster-api.ts";
import { type Pod, podIdentity, type TokenSource } from "../pod/pod.ts";

interface TokenRequest extends KubeObject {
  readonly spec: {
    readonly audiences?: readonly string[];
    readonly expirationSeconds: number;
    readonly boundObjectRef: {
      readonly kind: string;
      readonly apiVersion: string;
      readonly name: string;
      readonly uid: string;
    };
  };
  readonly status?: { readonly token: string; readonly expirationTimestamp: string };
}

const serviceAccountKind: KindRef<TokenRequest> = {
  group: "",
  version: "v1",
  kind: "TokenRequest",
  plural: "serviceaccounts",
  namespaced: true,
};
const defaultSeconds = 3_607;
const renewAtShare = 0.8;

export interface PodTokens {
  token(pod: Pod, source: TokenSource): Promise<string>;
  forget(podUid: string): void;
}

export function createPodTokens(clock: Clock, api: ClusterApi): PodTokens {
  const tokens = new Map<string, { readonly token: string; readonly renewAtMs: number }>();
  return {
    async token(pod, source) {
      const { uid } = podIdentity(pod);
      const key = `${uid}/${source.audience ?? ""}/${source.expirationSeconds ?? defaultSeconds}`;
      const known = tokens.get(key);
      if (known !== undefined && clock.now() < known.renewAtMs) return known.token;
      const fresh = await requestToken(clock, api, pod, source);
      tokens.set(key, fresh);
      return fresh.token;
    },
    forget(podUid) {
      for (const key of tokens.keys()) if (key.startsWith(`${podUid}/`)) tokens.delete(key);
    },
  };
}

async function requestToken(
  clock: Clock,
  api: ClusterApi,
  pod: Pod,
  source: TokenSource,
): Promise<{ token: string; renewAtMs: number }> {
  const { namespace, name, uid } = podIdentity(pod);
  const request: TokenRequest = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { namespace },
    spec: {
      ...(source.audience === undefined ? {} : { audiences: [source.audience] }),
      expirationSeconds: source.expirationSeconds ?? defaultSeconds,
      boundObjectRef: { kind: "Pod", apiVersion: "v1", name, uid },
    },
  };
  const account = { name: pod.spec.serviceAccountName ?? "default", subresource: "token" };
  const { status } = await api.create(serviceAccountKind, request, account);
  const lifeMs = Date.parse(status?.expirationTimestamp ?? "") - clock.now();
  return { token: status?.token ?? "", renewAtMs: clock.now() + lifeMs * renewAtShare };
}
