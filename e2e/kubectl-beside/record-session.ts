/**
 * The first process of a namespace of its own: brings a cluster up, gives it the images and records the
 * stories. `record-session.ts SCRIPT BIN DIR [STORY …]`; ends early when its standard input ends.
 */
import { join } from "node:path";
import { MachineState, makeFoldersPrivate } from "../cluster/isolation.ts";
import { RealCluster } from "../cluster/real-cluster.ts";
import { recordStories } from "./recorder.ts";
import { storyArchives } from "./story-images.ts";

const [script = "", bin = "", directory = "", ...names] = process.argv.slice(2);
const stopping = new AbortController();
const { signal } = stopping;

process.stdin.once("end", () => stopping.abort()).resume();
using _machine = new MachineState();
makeFoldersPrivate(join(directory, "private"));
const cluster = new RealCluster({ script, bin }, directory);
try {
  await cluster.up(signal);
  for (const archive of storyArchives(directory)) await cluster.load(archive, signal);
  await recordStories({ script, bin }, directory, names, signal);
} finally {
  await cluster[Symbol.asyncDispose]();
  process.stdin.destroy();
}
