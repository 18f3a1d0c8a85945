/** Plays stories on a running genuine cluster, and keeps what they print. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reference } from "../cluster/reference.ts";
import { type Place, playStory } from "./play.ts";
import { comparedSteps, readStories, writeStory } from "./story.ts";

/** As cluster.sh names them. */
const names = { node: "real-1", server: "https://10.99.0.1:6443" };

/** `only` names stories; all when it is empty. */
export async function recordStories(
  { script }: Reference,
  directory: string,
  only: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const kubeconfig = readFileSync(join(directory, "kubeconfig"), "utf8");
  const place: Place = {
    kubeconfig,
    names,
    enter: ["env", `CLUSTER_NS=${process.env["CLUSTER_NS"] ?? ""}`, script, "exec", directory],
  };
  const stories = readStories().filter(({ name }) => only.length === 0 || only.includes(name));
  for (const story of stories) {
    const played = await playStory(story, place, signal);
    const failed = played.steps.find(({ isCompared, output }) => !isCompared && output.length > 0);
    if (failed !== undefined) throw new Error(`Cannot record story "${story.name}": "${failed.command}" failed`);
    writeStory(played);
    console.log(`${story.name}: ${comparedSteps(story).length} commands`);
  }
}
