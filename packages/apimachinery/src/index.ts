/** Types and pure functions of the Kubernetes API; see the package's README. */

// objects
export type {
  Condition,
  GroupVersionKind,
  GroupVersionResource,
  KubeList,
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  NamespacedName,
  ObjectMeta,
  OwnerReference,
  UnstructuredObject,
} from "./object.ts";
export { apiVersionOf, groupResource, gvkOf, parseApiVersion } from "./object.ts";

// tables
export { lookupTable } from "./lookup-table.ts";

// kinds
export type { Kind, KindNames, ObjectInit, ObjectInitMeta, ObjectOf } from "./kind.ts";
export { arrange, createKind } from "./kind.ts";

// requests
export type {
  ApiRequest,
  ApiResponse,
  HttpMethod,
  RawFrame,
  RawList,
  RawResponse,
  Transport,
  UserInfo,
  WatchEventType,
  WatchFrame,
} from "./transport.ts";

// errors
export type { FieldError, FieldErrorType } from "./field-error.ts";
export { invalid } from "./field-error.ts";
export type { Status, StatusCause, StatusDetails, StatusReason } from "./status.ts";
export {
  ApiError,
  failure,
  isAlreadyExists,
  isApiError,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isStatus,
  isTooLarge,
  isTooManyRequests,
} from "./status.ts";
export { assert, isSetpointError, messageOf, SetpointError } from "./errors.ts";

// JSON values
export { decodeJson, encodeJson, exactInteger, isJsonInteger } from "./json-text.ts";
export type { JsonObject } from "./json-value.ts";
export { cloneJson, copyObject, deepEqual, deepFreeze, isJsonObject, setOwn } from "./json-value.ts";

// field sets
export type { FieldPathElement } from "./field-path.ts";
export {
  compareFieldElements,
  fieldElement,
  formatFieldPath,
  keyElement,
  normalFieldElement,
  valueElement,
} from "./field-path.ts";
export type { FieldsTree } from "./field-set.ts";
export { FieldSet, fieldsLeaf, fieldsTreeDepthMax } from "./field-set.ts";

// patches
export type { JsonPatchOperation } from "./json-patch.ts";
export { jsonPatch, jsonPatchOperationsMax, parseJsonPatch } from "./json-patch.ts";
export { createMergePatch, mergePatch, mergedPatch } from "./merge-patch.ts";

// selectors
export type { LabelOperator, LabelRequirement } from "./label-requirement.ts";
export { createLabelRequirement, formatRequirement, matchesRequirement } from "./label-requirement.ts";
export type { LabelSelectorExpression, LabelSelectorObject } from "./label-selector.ts";
export { LabelSelector, labelSelectorOf, matchesLabelSelector, parseLabelSelector } from "./label-selector.ts";
export type { FieldRequirement, FieldSelector } from "./field-selector.ts";
export { formatFieldSelector, matchesFields, parseFieldSelector } from "./field-selector.ts";
export type { ShardField, ShardRange, ShardSelector } from "./shard-selector.ts";
export { formatShardSelector, matchesShard, parseShardSelector, shardRangeOf } from "./shard-selector.ts";

// texts
export { decodeYamlText, textEncodingOf } from "./text-encoding.ts";

// quantities and times
export type { Quantity, QuantityFormat, QuantityPrecision } from "./quantity.ts";
export {
  addQuantities,
  canonicalQuantityText,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityProblem,
  quantityValue,
  subtractQuantities,
} from "./quantity.ts";
export type { JsonFields, ResourceAmounts } from "./pod-resources.ts";
export { addAmounts, fieldsAt, listAt, podResources, readAmounts } from "./pod-resources.ts";
export { inQuotaScope, quotaResource, quotaUsage } from "./quota-usage.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { formatAge, formatHumanDuration } from "./age.ts";

// parts of objects
export type { ConditionInit } from "./conditions.ts";
export { findCondition, isConditionTrue, setCondition } from "./conditions.ts";
export type { OwnerReferenceOptions } from "./owner-references.ts";
export { controllerOf, isControlledBy, isOwnedBy, ownerReferenceTo } from "./owner-references.ts";

// names
export {
  dns1123LabelLengthMax,
  dns1123SubdomainLengthMax,
  labelValueLengthMax,
  validateConfigKey,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validatePathSegment,
  validateQualifiedName,
} from "./names.ts";
