/** Variables of the pod in a configuration: `$(POD_NAME)`, `$(SHARD)`. */

/** Unknown variables stay as they are. */
export function withVariables(text: string, variables: Readonly<Record<string, string | undefined>>): string {
  return text.replaceAll(/\$\(([A-Za-z_][A-Za-z0-9_]*)\)/g, (whole, name: string) => variables[name] ?? whole);
}
