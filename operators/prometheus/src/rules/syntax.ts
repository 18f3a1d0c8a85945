/** Nodes of a parsed expression, and the error by which a check ends. */
import type { SyntaxNode } from "@lezer/common";

export interface Text {
  readonly expression: string;
  readonly features: ReadonlySet<string>;
}

/** Thrown inside of a check, and caught by it. */
export class Wrong extends Error {}

export function textOf({ expression }: Text, node: SyntaxNode): string {
  return expression.slice(node.from, node.to);
}

export function children(node: SyntaxNode): readonly SyntaxNode[] {
  const list: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling)
    if (child.name !== "LineComment") list.push(child);
  return list;
}
