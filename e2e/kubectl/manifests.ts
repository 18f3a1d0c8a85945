/** What the tests apply: small things of every sort, all in YAML as users write it. */
import { operatorImage } from "../../tools/image/operator-image.ts";

export const gadgetCrd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.dev}
spec:
  group: example.dev
  names: {kind: Gadget, plural: gadgets, singular: gadget, shortNames: [gd], categories: [all]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}
    additionalPrinterColumns:
    - {name: Count, type: integer, jsonPath: .spec.count}
    - {name: Mode, type: string, jsonPath: .spec.mode, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        description: A gadget.
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [count]
            properties:
              count: {type: integer, minimum: 1, maximum: 5, description: How many.}
              mode: {type: string, enum: [fast, slow], default: fast}
          status: {type: object, properties: {count: {type: integer}, phase: {type: string}}}
`;

export const gadget = (count: number | string, more = ""): string => `
apiVersion: example.dev/v1
kind: Gadget
metadata: {name: one, labels: {tier: front}}
spec: {count: ${count}${more}}
`;

/** A Deployment whose pods run for long; \`message\` is what they log. */
export const web = (replicas: number, message = "hello"): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: main
        image: ${operatorImage}
        command: [node, -e, "console.log('${message}'); setInterval(() => {}, 1000)"]
        ports: [{containerPort: 8000}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8000}]}
`;

/** A pod that runs a script of Node. */
export const script = (name: string, code: string, restartPolicy = "Never"): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  restartPolicy: ${restartPolicy}
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: ${operatorImage}
    command: [node, -e, ${JSON.stringify(code)}]
`;

export const etcd = (name: string, spec: string): string => `
apiVersion: etcd.setpoint.dev/v1
kind: EtcdCluster
metadata: {name: ${name}}
spec: {${spec}}
`;
