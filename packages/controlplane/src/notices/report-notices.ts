/**
 * Nothing is accepted in silence: a write whose object, or a field of it, has no effect in this cluster gets
 * a Warning, and the object an Event.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import {
  type AdmissionPlugin,
  builtinResources,
  type ObjectReader,
  type Storage,
  type StorageEvent,
} from "@setpoint/apiserver";
import type { Stored } from "@setpoint/client";
import type { EventRecorder } from "@setpoint/runtime";
import { kindKey } from "./kind-actors.ts";
import { mayCauseNotice, noticesOf, type Notice, type NoticeRules } from "./notices.ts";

const reporter = "setpoint-up";

export interface NoticeOptions extends Omit<NoticeRules, "reader"> {
  readonly server: { readonly reader: ObjectReader; addAdmission(plugin: AdmissionPlugin): void };
  readonly storage: Pick<Storage, "revision" | "watch">;
  readonly events: EventRecorder;
}

/** Until it is disposed of, before the storage is closed. */
export function reportNotices({ server, storage, events, ...rest }: NoticeOptions): AsyncDisposable {
  const rules: NoticeRules = { ...rest, reader: server.reader };
  const resources = builtinResources().filter(({ group, kind }) => mayCauseNotice(kindKey(group, kind), rules.actors));
  const kinds = new Set(resources.map(({ group, kind }) => kindKey(group, kind)));
  server.addAdmission(warnings(rules, kinds));
  const watches = [...new Set(resources.map(({ storagePrefix }) => storagePrefix))].map((prefix) =>
    storage.watch(prefix, storage.revision, (event) => {
      const object = event.object as Stored<KubeObject>;
      for (const { reason, message } of newNotices(event, rules))
        events.record(object, reporter, { type: "Warning", reason, message });
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      for (const each of watches) each.cancel();
      await events.flushed();
    },
  };
}

function warnings(rules: NoticeRules, kinds: ReadonlySet<string>): AdmissionPlugin {
  return {
    name: "Notices",
    async validate(request) {
      const { definition, operation, subresource, object } = request;
      const isWrite = operation === "CREATE" || operation === "UPDATE";
      if (!isWrite || subresource !== "" || object === undefined) return;
      if (!kinds.has(kindKey(definition.group, definition.kind))) return;
      for (const { message } of noticesOf(object, rules)) request.warn(message);
    },
  };
}

/** Those that the object did not have before: a change of its status repeats none. */
function newNotices({ kind, object, previous }: StorageEvent, rules: NoticeRules): readonly Notice[] {
  if (kind === "delete") return [];
  const { generation } = object.metadata;
  if (generation !== undefined && previous?.metadata.generation === generation) return [];
  const before = previous === undefined ? [] : noticesOf(previous, rules);
  return noticesOf(object, rules).filter(({ message }) => !before.some((each) => each.message === message));
}
