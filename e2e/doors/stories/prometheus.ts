/** The page of the Prometheus operator, for a reader who has a clone. */
import type { Story } from "../story.ts";

export const prometheusStories: readonly Story[] = [
  {
    title: "a fresh clone plays the tour of Prometheus",
    pages: ["README.md", "operators/prometheus/README.md"],
    place: "clone",
    acts: [
      {
        typed: "npm start -- --operator prometheus",
        with: { "--operator prometheus": "--operator prometheus --exit" },
        says: /^All steps hold/m,
        seconds: 600,
      },
    ],
  },
];
