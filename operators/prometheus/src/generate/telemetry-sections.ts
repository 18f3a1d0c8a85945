/** What Prometheus takes over OTLP, and where it sends its own traces. */
import { ConfigurationRefused, field, filled, type Generation, given, has, type Section, since } from "./generation.ts";
import { decimalOf } from "./decimal.ts";
import { tlsConfig } from "./http-settings.ts";

/** Translations that need a newer Prometheus. */
const translationSince: Readonly<Record<string, string>> = {
  NoTranslation: "3.4.0",
  UnderscoreEscapingWithoutSuffixes: "3.6.0",
};

export function otlpSection(generation: Generation): Section {
  const { otlp } = generation.prometheus.spec;
  if (otlp === undefined) return {};
  refuseOtlp(generation);
  const section = {
    ...field("promote_resource_attributes", filled(otlp.promoteResourceAttributes)),
    ...since(generation, "3.0.0", "translation_strategy", otlp.translationStrategy),
    ...since(generation, "3.1.0", "keep_identifying_resource_attributes", otlp.keepIdentifyingResourceAttributes),
    ...since(generation, "3.4.0", "convert_histograms_to_nhcb", otlp.convertHistogramsToNHCB),
    ...since(generation, "3.5.0", "promote_all_resource_attributes", otlp.promoteAllResourceAttributes),
    ...since(generation, "3.5.0", "ignore_resource_attributes", filled(otlp.ignoreResourceAttributes)),
    ...since(generation, "3.6.0", "promote_scope_metadata", otlp.promoteScopeMetadata),
    ...since(generation, "3.8.0", "label_name_underscore_sanitization", otlp.labelNameUnderscoreSanitization),
    ...since(
      generation,
      "3.8.0",
      "label_name_preserve_multiple_underscores",
      otlp.labelNamePreserveMultipleUnderscores,
    ),
  };
  return Object.keys(section).length === 0 ? {} : { otlp: section };
}

function refuseOtlp(generation: Generation): void {
  const { otlp = {}, nameValidationScheme } = generation.prometheus.spec;
  const strategy = otlp.translationStrategy ?? "";
  const refuse = (name: string, message: string): never => {
    throw new ConfigurationRefused(`spec.otlp${name}`, message);
  };
  if (!has(generation, "2.55.0")) refuse("", "it needs Prometheus 2.55.0 or newer");
  if (strategy === "NoUTF8EscapingWithSuffixes" && nameValidationScheme === "Legacy")
    refuse(".translationStrategy", `"${strategy}" cannot be combined with nameValidationScheme "Legacy"`);
  const minimum = translationSince[strategy];
  if (minimum !== undefined && !has(generation, minimum))
    refuse(".translationStrategy", `"${strategy}" needs Prometheus ${minimum} or newer`);
  if (!has(generation, "3.5.0")) return;
  const promotesAll = otlp.promoteAllResourceAttributes === true;
  if (promotesAll && filled(otlp.promoteResourceAttributes) !== undefined)
    refuse(".promoteResourceAttributes", "it cannot be combined with promoteAllResourceAttributes: true");
  if (!promotesAll && filled(otlp.ignoreResourceAttributes) !== undefined)
    refuse(".ignoreResourceAttributes", "it needs promoteAllResourceAttributes: true");
}

export function tracingSection(generation: Generation): Section {
  const { metadata, spec } = generation.prometheus;
  const { tracingConfig: tracing } = spec;
  if (tracing === undefined) return {};
  const fraction = tracing.samplingFraction === undefined ? undefined : decimalOf(tracing.samplingFraction);
  if (fraction !== undefined && (fraction < 0 || fraction > 1))
    throw new ConfigurationRefused(
      "spec.tracingConfig.samplingFraction",
      `expected a number from 0 to 1, got "${tracing.samplingFraction ?? ""}"`,
    );
  const hasHeaders = Object.keys(tracing.headers ?? {}).length > 0;
  return {
    tracing: {
      endpoint: tracing.endpoint,
      ...field("client_type", tracing.clientType?.toLowerCase()),
      ...field("sampling_fraction", fraction),
      ...field("insecure", tracing.insecure),
      ...field("headers", hasHeaders ? tracing.headers : undefined),
      ...field("compression", given(tracing.compression)?.toLowerCase()),
      ...field("timeout", tracing.timeout),
      ...tlsConfig(generation, metadata.namespace ?? "", tracing.tlsConfig),
    },
  };
}
