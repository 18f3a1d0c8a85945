import { parseArgs } from "node:util";
import { isSetpointError, type KubeObject, messageOf, SetpointError } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import type { Operator } from "setpoint";
import { installManifests } from "setpoint/install";
import { type Command, parseNamespace, parseNumber, refuseMore } from "../command.ts";
import { parseImage } from "../image/image-name.ts";
import { applyObjects } from "../install/apply-objects.ts";
import { errImageMissing, untilAvailable } from "../install/until-available.ts";
import { loadOperator } from "../load-operator.ts";
import { installationOf } from "../release/release-operators.ts";

const timeoutSeconds = 120;
const timeoutSecondsMax = 3_600;

/** `setpoint install`: an operator in the cluster, by its manifests, until it runs. */
export const install: Command = {
  name: "install",
  usage: "install FILE [--image IMAGE] [--namespace NS] [--timeout SECONDS] [--kubeconfig FILE] [--context NAME]",
  summary:
    "Apply the manifests of the operator of FILE, and wait until it runs. In place of FILE all commands take the name of an operator of this release: compliance-probe, etcd, hateful-set, postgres, prometheus, service-bindings.",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = { image: text, namespace: text, timeout: text, kubeconfig: text, context: text } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("install an operator", positionals, 1);
    const [given = ""] = positionals;
    const operator = await loadOperator(positionals[0], "install");
    const defaults = installationOf(given, operator);
    const image = parseImage(values.image) ?? defaults.image;
    const namespace = parseNamespace("namespace", values.namespace ?? defaults.namespace);
    const timeoutMs = parseNumber("timeout", values.timeout, timeoutSeconds, timeoutSecondsMax) * 1_000;
    const host = systemHost({ write: (line) => output.err(line) });
    await using transport = connect({
      clock: host.clock,
      userAgent: "setpoint-install",
      ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
      ...(values.context === undefined ? {} : { context: values.context }),
    });
    const client = createClient(transport, host);
    const objects = installManifests(operator, { image, namespace, args: defaults.args });
    for await (const object of applyObjects(client, host.clock, objects)) output.out(`${titleOf(object)} is applied\n`);
    const name = deploymentOf(operator);
    const say = (line: string): void => output.err(`${line}\n`);
    await untilAvailable({ client, clock: host.clock, namespace, name, timeoutMs, say }).catch((error: unknown) => {
      throw isSetpointError(error, errImageMissing) ? withAdvice(error, given, image) : error;
    });
    output.out(`Deployment ${namespace}/${name} is available, image ${image}\n`);
    return 0;
  },
};

function deploymentOf({ name }: Operator): string {
  return `${name}-operator`;
}

/** A node of `setpoint up` has the images of its release; others pull or hold one. */
function withAdvice(error: Error, given: string, image: string): Error {
  const save = `setpoint build ${given} --image REGISTRY/NAME:TAG`;
  const way = `bring it to the nodes ("${save}" writes it into an archive), and repeat with the same --image`;
  return new SetpointError(errImageMissing, `${messageOf(error)}. The nodes have no image "${image}": ${way}`);
}

function titleOf({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name ?? ""}`;
}
