/** One broken promise: where it is in the source, and the test that finds it. */
export interface PromiseMutant {
  readonly id: string;
  /** What is wrong, in one sentence. */
  readonly bug: string;
  readonly file: string;
  /** Texts that the file contains once, and what replaces them. */
  readonly edits: readonly (readonly [original: string, wrong: string])[];
  /** The test file, and a part of the name of the test, that find it. */
  readonly test: string;
  readonly named: string;
}
