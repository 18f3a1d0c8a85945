/** The webhooks of an operator as a ClusterServiceVersion has them; the manager registers them. */
import { type KubeObject, SetpointError } from "@setpoint/apimachinery";

/** Where the manager mounts the certificate that it issues for a Deployment with webhooks. */
export const bundledCertificate = {
  certificateFile: "/apiserver.local.config/certificates/apiserver.crt",
  keyFile: "/apiserver.local.config/certificates/apiserver.key",
} as const;

const types: Readonly<Record<string, string>> = {
  ValidatingWebhookConfiguration: "ValidatingAdmissionWebhook",
  MutatingWebhookConfiguration: "MutatingAdmissionWebhook",
};
/** What both sides of the manager's Service are: its own port, and where operators listen. */
const ports = { containerPort: 443, targetPort: 9443 };
const versions = ["v1"];

interface RegisteredWebhook {
  readonly name: string;
  readonly clientConfig: { readonly service?: { readonly path?: string } };
  readonly namespaceSelector?: { readonly matchLabels?: object; readonly matchExpressions?: readonly object[] };
  readonly matchConditions?: readonly object[];
}

interface ConvertedCrd extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly conversion?: {
      readonly webhook?: { readonly clientConfig: { readonly service?: { readonly path?: string } } };
    };
  };
}

/**
 * Errors: `ERR_NOT_BUNDLED` for a webhook with `namespaceSelector` or `matchConditions`: the manager chooses
 * the namespaces itself and knows no conditions, so the webhook would get calls that its author excludes.
 */
export function webhookDefinitions(deploymentName: string, objects: readonly KubeObject[]): readonly object[] {
  return [
    ...objects.flatMap((object) => admissionDefinitions(deploymentName, object)),
    ...conversionDefinitions(deploymentName, objects),
  ];
}

function admissionDefinitions(deploymentName: string, object: KubeObject): readonly object[] {
  const type = types[object.kind];
  if (type === undefined) return [];
  const { webhooks } = object as KubeObject & { readonly webhooks: readonly RegisteredWebhook[] };
  return webhooks.map(({ name, clientConfig, namespaceSelector, matchConditions, ...webhook }) => {
    // The one expression is ours: the operator's own namespace is left alone.
    const isSelective =
      namespaceSelector?.matchLabels !== undefined || namespaceSelector?.matchExpressions?.[1] !== undefined;
    if (isSelective || matchConditions !== undefined) throw notBundled(name);
    const webhookPath = clientConfig.service?.path;
    return { type, generateName: name, deploymentName, ...ports, ...webhook, webhookPath };
  });
}

function notBundled(name: string): SetpointError {
  return new SetpointError(
    "ERR_NOT_BUNDLED",
    `Cannot bundle webhook "${name}": it has a namespaceSelector or matchConditions, for which the Operator Lifecycle Manager has no field; test the condition in the webhook, or install the operator with \`setpoint manifests\``,
  );
}

/** One for all kinds with several versions: they have one path. */
function conversionDefinitions(deploymentName: string, objects: readonly KubeObject[]): readonly object[] {
  const crds = objects
    .filter(({ kind }) => kind === "CustomResourceDefinition")
    // The operator's kinds make them.
    .map((crd) => crd as ConvertedCrd)
    .filter(({ spec }) => spec.conversion?.webhook !== undefined);
  const [first] = crds;
  if (first === undefined) return [];
  return [
    {
      type: "ConversionWebhook",
      generateName: `convert.${first.spec.group}`,
      deploymentName,
      ...ports,
      admissionReviewVersions: versions,
      sideEffects: "None",
      conversionCRDs: crds.map(({ metadata }) => metadata.name),
      webhookPath: first.spec.conversion?.webhook?.clientConfig.service?.path,
    },
  ];
}
