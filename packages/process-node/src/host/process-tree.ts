/** Kills a process and all its descendants, also those in another process group or session. */
import { readFileSync } from "node:fs";

/**
 * Each process is stopped before its children are listed, so it cannot start another one meanwhile. A child
 * whose parent has ended is no longer in the tree.
 */
export function killTree(pid: number): void {
  const tree = stopTree(pid, new Set());
  for (const each of tree) signal(each, "SIGKILL");
}

function stopTree(pid: number, tree: Set<number>): ReadonlySet<number> {
  if (tree.has(pid)) return tree;
  signal(pid, "SIGSTOP");
  tree.add(pid);
  for (const child of childrenOf(pid)) stopTree(child, tree);
  return tree;
}

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return text === "" ? [] : text.split(" ").map(Number);
  } catch {
    return [];
  }
}

function signal(pid: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended in between.
  }
}
