/** How a transfer pod reaches an EtcdCluster; both halves of the engine know it. */
import { z } from "zod";

/** `EngineControl.source` of etcd: client URLs of the members. */
export const etcdSource = z.object({ endpoints: z.array(z.url({ protocol: /^https?$/ })).min(1) });

/** The keys of the Secret that `EngineControl.source` may name; all are optional. */
export const sourceSecretKeys = {
  authority: "ca.crt",
  certificate: "tls.crt",
  privateKey: "tls.key",
  username: "username",
  password: "password",
} as const;
