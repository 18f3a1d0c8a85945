import { CustomResourceDefinition } from "@setpoint/api";
import { isForbidden, type Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { sleep, type Host } from "@setpoint/host";
import type { Operator } from "../operator.ts";
import { installedConversion } from "./conversion-client.ts";

/** How long a new CRD may need to be served. */
const establishMsMax = 10_000;

/**
 * Applies the CustomResourceDefinitions of an operator and waits until they are served. If the account may
 * not and it is not `required`, it logs a line and the operator uses the definitions that are installed.
 */
export async function installKinds(
  operator: Operator,
  transport: Transport,
  host: Host,
  { required = false }: { readonly required?: boolean } = {},
): Promise<void> {
  const client = createClient(transport, host);
  const conversion = await installedConversion(operator, client);
  for (const crd of operator.crds(conversion === undefined ? {} : { conversion })) {
    try {
      await client.apply(CustomResourceDefinition, crd, { fieldManager: operator.name, force: true });
    } catch (error) {
      if (required || !isForbidden(error)) throw error;
      host.log.warn("Kind is not installed by this account", { crd: crd.metadata.name, why: error.message });
      continue;
    }
    await untilEstablished(client, crd.metadata.name ?? "", host);
    host.log.info("Installed the kind", { crd: crd.metadata.name });
  }
}

async function untilEstablished(client: ReturnType<typeof createClient>, name: string, { clock }: Host): Promise<void> {
  const deadline = clock.monotonic() + establishMsMax;
  while (clock.monotonic() < deadline) {
    const { status } = await client.get(CustomResourceDefinition, { name });
    if (status?.conditions?.some((each) => each.type === "Established" && each.status === "True")) return;
    await sleep(clock, 100);
  }
}
