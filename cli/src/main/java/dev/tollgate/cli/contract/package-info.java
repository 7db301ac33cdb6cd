/**
 * Compares answers with the published contracts. It may import the JSON Schema validator, the YAML
 * parser, and {@code http}.
 */
@NullMarked
package dev.tollgate.cli.contract;

import org.jspecify.annotations.NullMarked;
