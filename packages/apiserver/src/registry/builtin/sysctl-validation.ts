/** Names of kernel settings in pods. */
import type { FieldError } from "@setpoint/apimachinery";
import { duplicate, invalidValue, required } from "../field-errors.ts";
import { type JsonObject, objectsAt, stringAt } from "../json-fields.ts";

const lengthMax = 253;
const segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const pattern = `^(${segment}[\\./])*${segment}$`;
const valid = new RegExp(pattern);
const ipcNames: ReadonlySet<string> = new Set(
  "sem shmall shmmax shmmni shm_rmid_forced shm msgmax msgmnb msgmni msg".split(" ").map((name) => `kernel.${name}`),
);

/** `at` is the path of the list. */
export function sysctlErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const names = objectsAt(spec, "securityContext", "sysctls").map((each) => stringAt(each, "name"));
  return names.flatMap((name, index) => {
    const field = `${at}[${index}].name`;
    return [...nameErrors(name, names.slice(0, index), field), ...hostErrors(spec, name, field)];
  });
}

function nameErrors(name: string, before: readonly string[], field: string): readonly FieldError[] {
  if (name === "") return [required(field)];
  if (name.length > lengthMax || !valid.test(name))
    return [invalidValue(field, name, `must have at most ${lengthMax} characters and match regex ${pattern}`)];
  return before.includes(name) ? [duplicate(field, name)] : [];
}

/** A pod has the settings of its own namespaces only. */
function hostErrors({ hostNetwork, hostIPC }: JsonObject, name: string, field: string): readonly FieldError[] {
  const dotted = withDots(name);
  const isNet = dotted.startsWith("net.");
  const isIpc = ipcNames.has(dotted) || dotted.startsWith("fs.mqueue.");
  if (hostNetwork === true && isNet)
    return [invalidValue(field, name, "may not be specified when 'hostNetwork' is true")];
  return hostIPC === true && isIpc ? [invalidValue(field, name, "may not be specified when 'hostIPC' is true")] : [];
}

/** With slashes as separators, dots belong to the segments. */
function withDots(name: string): string {
  const [first] = /[./]/.exec(name) ?? [];
  if (first !== "/") return name;
  return name.replaceAll(/[./]/g, (separator) => (separator === "/" ? "." : "/"));
}
