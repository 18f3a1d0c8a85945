import { ConfigMap, Namespace, ServiceAccount } from "@setpoint/api";
import { controller, type ControllerDefinition } from "@setpoint/runtime";

const rootCaName = "kube-root-ca.crt";

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
      const annotations = { "kubernetes.io/description": "The CA certificate of this cluster's API server." };
      await context.apply(
        ConfigMap({ name: rootCaName, namespace: name, annotations, data: { "ca.crt": options.caPem } }),
        { owner: false },
      );
    },
  });
}
