/** The instance comes up, reports how it is, and keeps what is written to it. */
import { type Check, type CheckContext, done, failed, type StepReport } from "../check.ts";
import { instanceNamed, mainPart, settled } from "../instances.ts";
import { nameOf, namespaceOf } from "../objects.ts";
import { completeProbe, firstKeys } from "../probes.ts";

export const createAndUse: Check = {
  name: "create-and-use",
  steps: [
    createMain,
    (context) => settled(context),
    statusIsSane,
    ...completeProbe({ ...firstKeys, name: "write", task: "write" }),
    ...completeProbe({ ...firstKeys, name: "read", task: "read" }),
  ],
};

async function createMain(context: CheckContext): Promise<StepReport> {
  const { acceptance, api, run } = context;
  await api.create(acceptance.instance(nameOf(context, mainPart), namespaceOf(context), run.spec.version));
  return done;
}

interface ReportedStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly reason?: string }[];
}

/** What the API conventions ask of a status. */
async function statusIsSane(context: CheckContext): Promise<StepReport> {
  const instance = await instanceNamed(context);
  // Every kind of instance has a status; these fields are those of the API conventions.
  const { status = {} } = instance as { readonly status?: ReportedStatus };
  const { generation } = instance.metadata;
  if (status.observedGeneration !== generation)
    return failed(`status.observedGeneration is ${status.observedGeneration}, expected ${generation}`);
  const { conditions = [] } = status;
  const malformed = conditions.find((each) => !isSane(each));
  if (malformed !== undefined) return failed(`a condition has no status or no reason: ${JSON.stringify(malformed)}`);
  const isReady = conditions.some(
    ({ type, status: is }) => (type === "Ready" || type === "Available") && is === "True",
  );
  return isReady ? done : failed("the instance serves, and neither its condition Ready nor Available is True");
}

function isSane({ type = "", status = "", reason = "" }: NonNullable<ReportedStatus["conditions"]>[number]): boolean {
  return type !== "" && reason !== "" && ["True", "False", "Unknown"].includes(status);
}
