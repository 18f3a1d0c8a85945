/** The operators that come with Setpoint: their programs and manifests lie beside the command. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Operator } from "setpoint";

/** An operator by the name that commands take. */
export interface ReleaseOperator {
  readonly name: string;
  /** The module that exports the operator as default, an absolute path. */
  readonly module: string;
  /** The module of its own command, an absolute path; most have none. */
  readonly tool?: string;
  /** The name of the image that its manifests use. */
  readonly image: string;
  readonly namespace: string;
  /** What its container gets; empty for the operator that the image starts by itself. */
  readonly args: readonly string[];
  /** The folder of its package. */
  readonly folder: string;
}

/** The `package.json` of an operator's package. */
interface Manifest {
  readonly version: string;
  readonly setpoint?: {
    readonly image: string;
    readonly namespace: string;
    readonly operators: Readonly<Record<string, OperatorEntry>>;
  };
}

interface OperatorEntry {
  readonly module: string;
  readonly tool?: string;
  readonly args?: readonly string[];
}

/** The npm package `setpoint`, or a checkout: both have the folders of operators at the same place. */
export const releaseFolder: string = fileURLToPath(new URL("../../../../", import.meta.url));

/** Whether the programs of this release must be built from sources first. */
export const isCheckout: boolean = existsSync(join(releaseFolder, "tsconfig.build.json"));

/** In the order of their names. */
export function releaseOperators(): readonly ReleaseOperator[] {
  return globSync(join(releaseFolder, "operators/*/package.json"))
    .flatMap((path) => operatorsOf(dirname(path), JSON.parse(readFileSync(path, "utf8")) as Manifest))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function operatorsOf(folder: string, { version, setpoint }: Manifest): readonly ReleaseOperator[] {
  if (setpoint === undefined) return [];
  const { image, namespace, operators } = setpoint;
  return Object.entries(operators).map(([name, { module, tool, args = [] }]) => ({
    ...{ name, namespace, args, folder },
    module: moduleOf(folder, module),
    ...(tool === undefined ? {} : { tool: moduleOf(folder, tool) }),
    image: `${image}:${version}`,
  }));
}

/** A checkout runs its sources. */
function moduleOf(folder: string, name: string): string {
  const source = join(folder, "src", `${name}.ts`);
  return existsSync(source) ? source : join(folder, "dist", `${name}.js`);
}

/** By its name; absent when no operator of this release has it. */
export function findReleaseOperator(name: string): ReleaseOperator | undefined {
  return releaseOperators().find((each) => each.name === name);
}

/** Where an operator's manifests put it when the user does not say: of `given`, a name or a file. */
export function installationOf(
  given: string,
  operator: Pick<Operator, "name">,
): Pick<ReleaseOperator, "image" | "namespace" | "args"> {
  const { name } = operator;
  return findReleaseOperator(given) ?? { image: `${name}-operator:latest`, namespace: `${name}-system`, args: [] };
}
