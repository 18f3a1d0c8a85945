/** The document that this instance follows; a new process goes on by the one that the last had. */
import { hashOf } from "../instance/document-hash.ts";
import type { DesiredInstance } from "../instance/instance-protocol.ts";
import type { DocumentFile } from "./manager-parts.ts";

export class FollowedDocument {
  readonly #file: DocumentFile;
  #desired: DesiredInstance | undefined;
  #hash = "";

  constructor(file: DocumentFile) {
    this.#file = file;
    const desired = file.read();
    if (desired !== undefined) this.#remember(desired);
  }

  /** Undefined before the first one. */
  get desired(): DesiredInstance | undefined {
    return this.#desired;
  }

  /** The highest that this instance has seen; 0 before the first one. */
  get term(): number {
    return this.#desired?.term ?? 0;
  }

  /** By which the operator recognises the document; empty before the first one. */
  get hash(): string {
    return this.#hash;
  }

  /** Follows a new document; throws for one of an older term, or of another primary in the same term. */
  take(desired: DesiredInstance): void {
    const { term } = this;
    const primary = this.#desired?.primary;
    if (desired.term < term)
      throw new Error(`Cannot go back to term ${desired.term}: this instance has seen term ${term}`);
    if (desired.term === term && primary !== undefined && desired.primary !== primary)
      throw new Error(`Cannot follow "${desired.primary ?? ""}" in term ${term}: "${primary}" is its primary`);
    this.#file.write(desired);
    this.#remember(desired);
  }

  #remember(desired: DesiredInstance): void {
    this.#desired = desired;
    this.#hash = hashOf(desired);
  }
}
