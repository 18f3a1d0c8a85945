import { z } from "zod";
import { dataLabels } from "./labels.ts";

const secretName = z.string().min(1).max(253);

/** An instance that no operator runs, as its clients reach it. */
export const externalInstance = z
  .object({
    endpoints: z
      .array(z.string().min(1).max(300))
      .min(1)
      .max(16)
      .describe("Where it answers clients, in the form of its engine; for etcd URLs such as https://10.0.0.7:2379."),
    tlsSecret: secretName
      .optional()
      .describe(
        `A Secret in the same namespace with the key ca.crt, and with tls.crt and tls.key for a server that asks for client certificates. With tls.key it needs the label ${dataLabels.externalLogin}=true.`,
      ),
    loginSecret: secretName
      .optional()
      .describe(
        `A Secret in the same namespace with the keys username and password. It needs the label ${dataLabels.externalLogin}=true.`,
      ),
  })
  .describe("An instance that no operator runs.");

export interface ExternalInstance {
  readonly endpoints: readonly string[];
  readonly tlsSecret?: string | undefined;
  readonly loginSecret?: string | undefined;
}
