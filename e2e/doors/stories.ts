/** All stories, in the order in which they are played: those of one clone or project follow each other. */
import { candyStories } from "./stories/candy.ts";
import { etcdStories } from "./stories/etcd.ts";
import { postgresStories } from "./stories/postgres.ts";
import { prometheusStories } from "./stories/prometheus.ts";
import { projectStories } from "./stories/projects.ts";
import { readmeStories } from "./stories/readme.ts";
import type { Story } from "./story.ts";

export const stories: readonly Story[] = [
  ...readmeStories,
  ...projectStories,
  ...candyStories,
  ...etcdStories,
  ...postgresStories,
  ...prometheusStories,
];
