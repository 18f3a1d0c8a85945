/** Guidelines 1 and 2: how an operator comes into a cluster, and what it brings. */
import { gvkOf } from "@setpoint/apimachinery";
import { installManifests } from "setpoint/install";
import { operatorNamespace } from "../../users.ts";
import type { Guideline } from "./guideline.ts";
import { isSameType, operatorsOf, withInstance } from "./stage.ts";

const workloads: ReadonlySet<string> = new Set([
  ...["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod"],
]);

export const singleDeployment: Guideline = {
  title: "a single Deployment installs it",
  async problem(subject, options) {
    const manifests = operatorsOf(subject).flatMap((operator) =>
      installManifests(operator, { image: "operator", namespace: operatorNamespace }),
    );
    const started = manifests.filter(({ kind }) => workloads.has(kind)).map(({ kind }) => kind);
    if (started.length !== 1 || started[0] !== "Deployment")
      return `its manifests start ${started.join(" and ") || "nothing"}, expected one Deployment`;
    // A world has the manifests and nothing else: no other kinds, and no other rights.
    return withInstance(subject, options, async () => undefined);
  },
};

export const newType: Guideline = {
  title: "it brings a new type",
  async problem(subject, { instance }) {
    const operators = operatorsOf(subject);
    const type = gvkOf(instance);
    const what = `${type.kind} of ${type.group === "" ? "the core group" : type.group}`;
    if (!operators.some(({ kinds }) => kinds.some((kind) => isSameType(kind, type))))
      return `${what} is not one of the kinds that it brings; declare a kind with defineKind`;
    if (!operators.some(({ controllers }) => controllers.some(({ kind }) => isSameType(kind, type))))
      return `no controller of it reconciles ${what}`;
    return undefined;
  },
};
