/** Which names of metrics are valid, and how others are written. */
import { type Generation, type Section, since } from "./generation.ts";

const escapingSchemes: Readonly<Record<string, string>> = {
  AllowUTF8: "allow-utf-8",
  Underscores: "underscores",
  Dots: "dots",
  Values: "values",
};

export function nameSchemes(
  generation: Generation,
  spec: { readonly nameValidationScheme?: string | undefined; readonly nameEscapingScheme?: string | undefined },
): Section {
  return {
    ...since(generation, "3.0.0", "metric_name_validation_scheme", spec.nameValidationScheme?.toLowerCase()),
    ...since(generation, "3.4.0", "metric_name_escaping_scheme", escapingSchemes[spec.nameEscapingScheme ?? ""]),
  };
}
