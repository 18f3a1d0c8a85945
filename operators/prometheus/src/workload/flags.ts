/** Flags of a server's command line; pure. */
import { ConfigurationRefused } from "../generate/generation.ts";
import type { PodFields } from "../kind/pod-fields.ts";

/** A flag without a value is switched on by its name. */
export type Flag = readonly [name: string, value?: string];

/** The operator's flags, then the user's, which may not be the same. */
export function commandLine(
  own: readonly Flag[],
  users: PodFields["additionalArgs"],
  place = "spec",
): readonly string[] {
  const additional = (users ?? []).map(({ name, value = "" }): Flag => [name, value]);
  const taken = additional.find(([name]) => own.some(([known]) => plain(known) === plain(name)));
  if (taken !== undefined)
    throw new ConfigurationRefused(`${place}.additionalArgs`, `the operator itself sets "${taken[0]}"; remove it`);
  return [...own, ...additional].map(([name, value = ""]) => (value === "" ? `--${name}` : `--${name}=${value}`));
}

function plain(name: string): string {
  return name.replace(/^no-/, "").replace(/=$/, "");
}

/** A flag that is left out when it has no value. */
export function valued(name: string, value: string | number | undefined): readonly Flag[] {
  return value === undefined || value === "" || value === 0 ? [] : [[name, String(value)]];
}

export function switched(name: string, isOn: boolean | undefined): readonly Flag[] {
  return isOn === true ? [[name]] : [];
}

export function routePrefix({ routePrefix: prefix = "" }: Pick<PodFields, "routePrefix">): string {
  return prefix === "" ? "/" : prefix;
}
