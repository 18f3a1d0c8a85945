/** The resources of a container while it runs: what it has, and what its pod asks for now. Pure. */
import type { Container, ContainerStatus, ResourceRequirements } from "@setpoint/api";
import { quantityNumber } from "../volumes/downward-api.ts";

const resizable = ["cpu", "memory"] as const;
type Resizable = (typeof resizable)[number];

/** Whether `name` differs; one quantity may have two spellings. */
function differs(name: Resizable, one: ResourceRequirements, other: ResourceRequirements): boolean {
  return (["requests", "limits"] as const).some((list) => {
    const [a, b] = [one[list]?.[name], other[list]?.[name]];
    return a === undefined || b === undefined ? a !== b : quantityNumber(a) !== quantityNumber(b);
  });
}

export function isToResize({ resources = {} }: Container, applied: ResourceRequirements): boolean {
  return resizable.some((name) => differs(name, resources, applied));
}

/** Whether the container asks to be restarted when this changes. */
export function restartsToResize(
  { resources = {}, resizePolicy = [] }: Container,
  applied: ResourceRequirements,
): boolean {
  return resizable.some(
    (name) =>
      differs(name, resources, applied) &&
      resizePolicy.some(
        ({ resourceName, restartPolicy }) => resourceName === name && restartPolicy === "RestartContainer",
      ),
  );
}

/** `applied` is what its control group has; without one, it will get what is asked for. */
export function resourceStatus(
  { resources = {} }: Container,
  applied: ResourceRequirements = resources,
): Pick<ContainerStatus, "allocatedResources" | "resources"> {
  const { requests } = resources;
  return { ...(requests === undefined ? {} : { allocatedResources: requests }), resources: applied };
}
