package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.apply.YamlFile;
import dev.tollgate.cli.http.Json;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How a command prints its result. */
enum Format {
  /** Lines and tables for a person. */
  TEXT,
  /** The API's JSON, in one line; errors are problem documents. */
  JSON,
  /** The same document as YAML. */
  YAML,
  /** The names in a list, one a line. */
  NAME,
  /** A table as comma-separated values (RFC 4180). The command makes its lines. */
  CSV;

  /** Reads the name of a format. */
  static final class Converter implements ITypeConverter<Format> {
    @Override
    public Format convert(String text) {
      return Arrays.stream(values())
          .filter(format -> format.toString().equals(text))
          .findAny()
          .orElseThrow(() -> new TypeConversionException(text + " (expected: " + NAMES + ")"));
    }
  }

  private static final String NAMES =
      Arrays.stream(values()).map(Format::toString).collect(Collectors.joining(", "));

  /** Whether people read it, so that the command may also say what it does. */
  boolean isForPeople() {
    return this == TEXT;
  }

  /**
   * The lines of a document in this format.
   *
   * @param text the lines for a person
   */
  List<String> lines(JsonNode document, List<String> text) {
    return switch (this) {
      case TEXT, CSV -> text;
      case JSON -> List.of(Json.write(document));
      case YAML -> Stream.concat(Stream.of("---"), YamlFile.write(document).lines()).toList();
      case NAME -> names(document).toList();
    };
  }

  private static Stream<String> names(JsonNode list) {
    return Stream.of(
            values(list.path("tenants"), "tenantId"),
            values(list.path("tiers"), "tier"),
            values(list.path("alarms"), "name"),
            list.path("contexts").propertyStream().map(Map.Entry::getKey))
        .flatMap(names -> names);
  }

  private static Stream<String> values(JsonNode items, String name) {
    return items.valueStream().map(item -> Json.text(item, name)).flatMap(Optional::stream);
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
