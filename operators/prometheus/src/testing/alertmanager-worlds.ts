/** What is explored of Alertmanagers. Only tests import this. */
import {
  allOracles,
  excuseFaults,
  type LawOptions,
  patch,
  remove,
  type Setting,
  type StoryInit,
  story,
} from "setpoint/testing";
import { Alertmanager } from "../kind/alertmanager.ts";
import { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import { alertmanager, config, configuration } from "./alertmanager-stage.ts";
import { keepsRevision, renumbersPort, silentSetting } from "./prometheus-stage.ts";

export const subject = (): Setting => silentSetting();

const pager = "route: {receiver: pager}\nreceivers: [{name: pager}]\n";

export const worlds: readonly StoryInit[] = [
  story("a pair of Alertmanagers with a configuration", configuration(pager), alertmanager({ replicas: 2 })),
  story("a pair gets a third", alertmanager({ replicas: 2 }), patch(Alertmanager, "main", { spec: { replicas: 3 } })),
  story(
    "an AlertmanagerConfig is deleted",
    config("team", { url: "http://receiver/" }),
    alertmanager({ alertmanagerConfigSelector: {} }),
    remove(AlertmanagerConfig, "team"),
  ),
  story("an Alertmanager is deleted", alertmanager(), remove(Alertmanager, "main")),
];

/** Nothing tells of a change of the user's Secret, which is not cached: it is read once a minute. */
const oracles = allOracles.filter(({ name }) => name !== "stays quiet");

export const options: Omit<LawOptions, "worlds"> = {
  seed: 7,
  oracles: excuseFaults(oracles, { "same end as without faults": keepsRevision, converges: renumbersPort }),
};
