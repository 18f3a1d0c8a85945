/** The functions of PromQL: what they take and give, as Prometheus' parser has it. */

export type ValueType = "scalar" | "vector" | "matrix" | "string";

export interface PromqlFunction {
  readonly takes: readonly ValueType[];
  /** How many of `takes`, from the end, may be absent; -1: the last one may be repeated or absent. */
  readonly optional: number;
  readonly gives: ValueType;
  /** Prometheus refuses it without the feature promql-experimental-functions. */
  readonly isExperimental: boolean;
}

const types: Readonly<Record<string, ValueType>> = { s: "scalar", v: "vector", m: "matrix", t: "string" };

/** The types of the arguments by their letters, and the names of the functions that take them. */
const signatures: Readonly<Record<string, string>> = {
  v: "abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor histogram_avg histogram_count histogram_sum histogram_stddev histogram_stdvar ln log10 log2 rad sgn sin sinh sort sort_desc sqrt tan tanh timestamp",
  m: "absent_over_time avg_over_time changes count_over_time delta deriv idelta increase irate last_over_time max_over_time min_over_time present_over_time rate resets stddev_over_time stdvar_over_time sum_over_time first_over_time mad_over_time ts_of_first_over_time ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time",
  vss: "clamp",
  vs: "clamp_max clamp_min round",
  ssv: "histogram_fraction",
  sv: "histogram_quantile",
  mss: "double_exponential_smoothing holt_winters",
  ms: "predict_linear",
  sm: "quantile_over_time",
  vtttt: "label_replace",
  vttt: "label_join",
  vt: "sort_by_label sort_by_label_desc",
  vv: "info",
};

const givesScalar: Readonly<Record<string, string>> = {
  "": "pi time end range start step",
  v: "scalar",
  ss: "max_of min_of",
};
const dates = "days_in_month day_of_month day_of_week day_of_year hour minute month year".split(" ");
const oneOptional = new Set([...dates, "round", "info"]);
const repeated = new Set(["label_join", "sort_by_label", "sort_by_label_desc"]);
const experimental = new Set(
  "end first_over_time double_exponential_smoothing info max_of min_of mad_over_time ts_of_first_over_time ts_of_max_over_time ts_of_min_over_time ts_of_last_over_time range sort_by_label sort_by_label_desc start step".split(
    " ",
  ),
);

function signature(name: string, letters: string, gives: ValueType): readonly [string, PromqlFunction] {
  const takes = letters.split("").map((letter) => types[letter] ?? "vector");
  const optional = repeated.has(name) ? -1 : oneOptional.has(name) ? 1 : 0;
  return [name, { takes, optional, gives, isExperimental: experimental.has(name) }];
}

function all(
  table: Readonly<Record<string, string>>,
  gives: ValueType,
): readonly (readonly [string, PromqlFunction])[] {
  return Object.entries(table).flatMap(([letters, names]) =>
    names.split(" ").map((name) => signature(name, letters, gives)),
  );
}

/** By name. A function that is missing here is in the grammar, but its arguments are not checked. */
export const promqlFunctions: ReadonlyMap<string, PromqlFunction> = new Map([
  ...all(signatures, "vector"),
  ...all(givesScalar, "scalar"),
  ...dates.map((name) => signature(name, "v", "vector")),
  signature("vector", "s", "vector"),
]);

/** Aggregations whose first argument is a parameter, and its type. */
export const aggregationParameters: ReadonlyMap<string, ValueType> = new Map([
  ["topk", "scalar"],
  ["bottomk", "scalar"],
  ["quantile", "scalar"],
  ["limitk", "scalar"],
  ["limit_ratio", "scalar"],
  ["count_values", "string"],
]);
