/**
 * One contract, three hosts: the pure form served as HTTP hooks, called as HTTP hooks, and declared in YAML;
 * Node only.
 */

// calling hooks
export type { HookControllerOptions } from "./hook-controller.ts";
export { hookController } from "./hook-controller.ts";
export type { HookCaller, HttpHookOptions } from "./hook-caller.ts";
export { httpHook } from "./hook-caller.ts";
export type { CompositeControllerOptions, KindFinder } from "../declared/composite-controller.ts";
export { readCompositeController } from "../declared/composite-controller.ts";

// programs as engines
export type { EngineControllerOptions } from "../engine/engine-controller.ts";
export { engineController } from "../engine/engine-controller.ts";
export type { EngineRunInit } from "../engine/engine-run.ts";
export type { ProgramCall, ProgramEnd, Programs } from "../engine/programs.ts";
export type { SystemProgramsOptions } from "../engine/system-programs.ts";
export { systemPrograms } from "../engine/system-programs.ts";

// an operator without code
export type { DeclaredOperatorOptions } from "../declared/read-operator.ts";
export { readOperator } from "../declared/read-operator.ts";

// serving hooks
export type { HookServer, ServeHooksOptions } from "./serve-hooks.ts";
export { serveHooks } from "./serve-hooks.ts";
export type { HookName } from "./answer-hook.ts";
export { answerHook } from "./answer-hook.ts";

// the contract
export type { ObjectsOnWire, RelatedRule, SyncRequest, SyncResponse } from "./hook-contract.ts";
