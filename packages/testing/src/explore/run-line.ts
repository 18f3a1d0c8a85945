/** One line of the page of a run: who did or saw what, and when. */
export interface RunLine {
  readonly atMs: number;
  readonly who: string;
  readonly kind: "did" | "saw" | "refused" | "fault" | "broken" | "more";
  readonly text: string;
}
