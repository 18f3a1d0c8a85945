/** Guideline 3: an operator uses what Kubernetes has. */
import * as api from "@setpoint/api";
import { gvkOf, type GroupVersionKind } from "@setpoint/apimachinery";
import { excuseOf, type Guideline } from "./guideline.ts";
import { children, isSameType, named, operatorsOf, withInstance } from "./stage.ts";

const builtIn: readonly GroupVersionKind[] = Object.values(api).filter((each) => "kind" in each && "group" in each);

/** The same name under another group: users would have two things to look at. */
const sharedNames: ReadonlySet<string> = new Set(builtIn.map(({ kind }) => kind));

export const primitives: Guideline = {
  title: "it uses built-in primitives where possible",
  excuse: ({ primitives: part }) => excuseOf(part),
  async problem(subject, options) {
    const copy = operatorsOf(subject)
      .flatMap(({ kinds }) => kinds)
      .find(({ kind }) => sharedNames.has(kind));
    if (copy !== undefined) return `it brings a kind ${copy.kind}, which Kubernetes has; use that of Kubernetes`;
    return withInstance(subject, options, async (stage) => {
      const owned = (await children(stage)).filter((child) => builtIn.some((kind) => isSameType(kind, gvkOf(child))));
      const { primitives: part } = options;
      if ("notApplicable" in part) return owned[0] && `it is excused, but its instance owns ${named(owned[0])}`;
      if (owned.length === 0) return "its instance owns no object of a built-in kind";
      const pod = owned.find(({ kind }) => kind === "Pod");
      if (pod !== undefined && part.ownPods === undefined)
        return `it creates ${named(pod)} itself; use a Deployment, a StatefulSet or a Job, or say in \`ownPods\` why not`;
      return pod === undefined && part.ownPods !== undefined
        ? "`ownPods` has a reason, but it creates no pods"
        : undefined;
    });
  },
};
