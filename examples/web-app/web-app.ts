/** A WebApp becomes a Deployment and a Service, and its host name is registered outside of the cluster. */
import { Deployment, Service } from "setpoint/kinds";
import { age, conditions, controller, declareConditions, defineKind, defineOperator, type Operator } from "setpoint";
import { z } from "zod";

export const WebApp = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "WebApp",
  spec: z.object({
    image: z.string(),
    replicas: z.int().min(0).max(50).default(2),
    port: z.int().default(8080),
    host: z.string(),
  }),
  status: z.object({
    readyReplicas: z.int().optional(),
    address: z.string().optional(),
    conditions: conditions().optional(),
  }),
  printerColumns: { Ready: "status.readyReplicas", Wanted: "spec.replicas", Host: "spec.host", Age: age() },
});
export type WebApp = ReturnType<typeof WebApp>;

export const health = declareConditions({
  Available: { polarity: "positive", reasons: { AllReplicasReady: "True", Starting: "False" } },
  Registered: { polarity: "positive", reasons: { HostRegistered: "True" } },
});

/** The registrar of host names; it knows nothing of Kubernetes. */
export interface Registrar {
  find(key: string): Promise<string | undefined>;
  register(key: string, host: string): Promise<string>;
  remove(key: string, host: string): Promise<string>;
}

const labelsOf = (app: WebApp): Record<string, string> => ({ app: app.metadata.name ?? "" });

function deploymentOf(app: WebApp): Deployment {
  const { image, replicas, port } = app.spec;
  const [name = "", labels] = [app.metadata.name, labelsOf(app)];
  const containers = [{ name: "web", image, ports: [{ containerPort: port }] }];
  return Deployment({
    name,
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
}

function serviceOf(app: WebApp): Service {
  return Service({
    name: app.metadata.name ?? "",
    spec: { selector: labelsOf(app), ports: [{ port: 80, targetPort: app.spec.port }] },
  });
}

export const webAppOperator = (registrar: Registrar): Operator => {
  const webApps = controller(WebApp, {
    owns: [Deployment, Service],
    ledger: true,
    health,
    async reconcile(app, { children, get, effect, condition, status }) {
      await children.apply([deploymentOf(app), serviceOf(app)]);
      const { host, replicas } = app.spec;
      const find = (key: string): Promise<string | undefined> => registrar.find(key);
      const address = await effect(`register ${host}`, { find, do: (key) => registrar.register(key, host) });
      const readyReplicas = get(Deployment, app.metadata.name)?.status?.readyReplicas ?? 0;
      const ready = `${readyReplicas} of ${replicas} replicas are ready`;
      condition(
        ...health.of({
          Available: [readyReplicas >= replicas ? "AllReplicasReady" : "Starting", ready],
          Registered: ["HostRegistered", `${host} is ${address}`],
        }),
      );
      await status({ readyReplicas, address });
    },
    async cleanup(app, { effect }) {
      const find = (key: string): Promise<string | undefined> => registrar.find(key);
      await effect("unregister", { find, do: (key) => registrar.remove(key, app.spec.host) });
    },
  });
  return defineOperator({ name: "web-app", controllers: [webApps] });
};
