/**
 * `npm run e2e:controllers [-- STORY …]`: the same stories with our controllers on the genuine
 * API server, and with the genuine controllers on ours; what they leave must be equal.
 */
import { startKubeApiServer } from "../everywhere/kube-apiserver.ts";
import { endState } from "./end-state.ts";
import { playKubelet } from "./fake-kubelet.ts";
import { ours, type Side, upstream } from "./sides.ts";
import { Stage } from "./stage.ts";
import { stories, type Story } from "./stories.ts";

type Ends = ReadonlyMap<string, readonly string[]>;

async function tell(story: Story, side: Side): Promise<readonly string[]> {
  const stage = new Stage(side, story.name);
  try {
    await stage.open();
    await story.tell(stage);
    return await endState(stage, side);
  } catch (error) {
    const end = await endState(stage, side);
    return [`failed: ${error instanceof Error ? error.message : String(error)}`, ...end];
  }
}

/** All stories at once, each in a namespace of its own. */
async function tellAll(chosen: readonly Story[], side: Side): Promise<Ends> {
  const stopping = new AbortController();
  const kubelet = playKubelet(side, stopping.signal);
  try {
    return new Map(await Promise.all(chosen.map(async (story) => [story.name, await tell(story, side)] as const)));
  } finally {
    stopping.abort();
    await kubelet;
  }
}

/** What only one side has; a line that both have is left out once for each. */
function differences(left: readonly string[], right: readonly string[]): readonly string[] {
  const rest = [...right];
  const alone = left.filter((line) => {
    const at = rest.indexOf(line);
    if (at !== -1) rest.splice(at, 1);
    return at === -1;
  });
  return [...alone.map((line) => `  ours      ${line}`), ...rest.map((line) => `  upstream  ${line}`)];
}

function report({ name, leftOut = {} }: Story, own: readonly string[], genuine: readonly string[]): boolean {
  const isCompared = (line: string): boolean => leftOut[line.split(" ", 1)[0] ?? ""] === undefined;
  const left = own.filter(isCompared);
  const right = genuine.filter(isCompared);
  const lines = differences(left, right);
  const hasFailed = [...left, ...right].some((line) => line.startsWith("failed"));
  console.log(`${lines.length > 0 || hasFailed ? "differs" : "equal  "} ${name}: ${left.length} objects`);
  for (const [kind, why] of Object.entries(leftOut)) console.log(`  without ${kind}: ${why}`);
  for (const line of hasFailed ? [...left, ...right, ...lines] : lines) console.log(line);
  return lines.length === 0 && !hasFailed;
}

async function run(chosen: readonly Story[]): Promise<boolean> {
  const started = await startKubeApiServer();
  if (typeof started === "string") {
    console.log(`SKIPPED e2e:controllers: ${started}`);
    return true;
  }
  await using server = started;
  await using left = await ours(server);
  await using right = await upstream(server.bin);
  const [own, genuine] = await Promise.all([tellAll(chosen, left), tellAll(chosen, right)]);
  const equal = chosen.filter((story) => report(story, own.get(story.name) ?? [], genuine.get(story.name) ?? []));
  console.log(`${equal.length} of ${chosen.length} stories end alike`);
  return equal.length === chosen.length;
}

const wanted = process.argv.slice(2);
const chosen = stories.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
process.exitCode = (await run(chosen)) && chosen.length > 0 ? 0 : 1;
