import { ConfigMap, Namespace, ServiceAccount } from "@setpoint/api";
import { controller, type ControllerDefinition } from "@setpoint/runtime";

const rootCaName = "kube-root-ca.crt";
const descriptionAnnotation = "kubernetes.io/description";
const description = "The CA certificate of this cluster's API server.";

/** Gives every namespace its ServiceAccount `default` and the ConfigMap with the cluster's CA certificate. */
export function serviceAccounts(options: { readonly caPem: string }): ControllerDefinition {
  const wakesNamespace = (object: {
    readonly metadata: { readonly namespace?: string };
  }): readonly { name: string }[] => [{ name: object.metadata.namespace ?? "" }];
  return controller(Namespace, {
    name: "serviceaccount",
    watches: [
      { of: ServiceAccount, wakes: (each) => (each.metadata.name === "default" ? wakesNamespace(each) : []) },
      { of: ConfigMap, wakes: (each) => (each.metadata.name === rootCaName ? wakesNamespace(each) : []) },
    ],
    async reconcile(namespace, context) {
      if (namespace.status?.phase === "Terminating") return;
      const name = namespace.metadata.name ?? "";
      const account = context.get(ServiceAccount, "default", name);
      if (account === undefined)
        await context.create(ServiceAccount({ name: "default", namespace: name }), { owner: false });
      // Looked at as upstream does, since every namespace is visited at each start.
      if (isPublished(context.get(ConfigMap, rootCaName, name), options.caPem)) return;
      const annotations = { [descriptionAnnotation]: description };
      await context.apply(
        ConfigMap({ name: rootCaName, namespace: name, annotations, data: { "ca.crt": options.caPem } }),
        { owner: false },
      );
    },
  });
}

function isPublished(present: ConfigMap | undefined, caPem: string): boolean {
  const { metadata, data } = present ?? {};
  return data?.["ca.crt"] === caPem && metadata?.annotations?.[descriptionAnnotation] === description;
}
