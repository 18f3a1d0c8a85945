/**
 * Whom API servers call to convert between the versions of a kind: an installation names its Service, a run
 * on a desk its address. The run takes the place of an installation, and gives it back at the end.
 */
import { CustomResourceDefinition } from "@setpoint/api";
import { isForbidden, isNotFound } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { isConvertible } from "@setpoint/runtime";
import type { WebhookClient } from "@setpoint/schema";
import type { Operator } from "../operator.ts";
import { webhooksName } from "../webhook-manifests.ts";

/** Undefined when no CustomResourceDefinition of the operator names a Service. */
export async function installedConversion(operator: Operator, client: Client): Promise<WebhookClient | undefined> {
  for (const { plural, group } of operator.kinds.filter(isConvertible)) {
    const found = await serviceOf(client, `${plural}.${group}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function serviceOf(client: Client, crd: string): Promise<WebhookClient | undefined> {
  try {
    const { spec } = await client.get(CustomResourceDefinition, { name: crd });
    const { service, caBundle } = spec.conversion?.webhook?.clientConfig ?? {};
    if (service === undefined) return undefined;
    return { service, ...(caBundle === undefined ? {} : { caBundle }) };
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}

/**
 * Writes the definitions of kinds with several versions, so that `conversion` is called, or, without it, so
 * that only the stored version is served.
 */
export async function applyConversion(
  operator: Operator,
  client: Client,
  conversion: WebhookClient | undefined,
): Promise<void> {
  const fieldManager = webhooksName(operator);
  // Not by the apply: it would leave what another client has set, and a server refuses an address beside a
  // Service.
  const clientConfig = { url: null, service: null, caBundle: null, ...conversion };
  const webhook = { conversionReviewVersions: ["v1"], clientConfig };
  const wanted = conversion === undefined ? { strategy: "None", webhook: null } : { strategy: "Webhook", webhook };
  const crds = operator.crds(conversion === undefined ? {} : { conversion });
  for (const { plural, group } of operator.kinds.filter(isConvertible)) {
    const name = `${plural}.${group}`;
    const crd = crds.find(({ metadata }) => metadata.name === name);
    const apply = async (): Promise<void> =>
      crd && void (await client.apply(CustomResourceDefinition, crd, { fieldManager, force: true }));
    // No version is served that nobody converts.
    if (conversion === undefined) await apply();
    await client.patch(CustomResourceDefinition, { name }, { spec: { conversion: wanted } }, { fieldManager });
    if (conversion !== undefined) await apply();
  }
}
