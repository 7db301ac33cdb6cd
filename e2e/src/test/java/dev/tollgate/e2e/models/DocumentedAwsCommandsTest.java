package dev.tollgate.e2e.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.models.ServiceModel.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The commands of the AWS CLI in the documentation name operations and options that AWS has, give
 * what these require, and select from what they answer.
 */
final class DocumentedAwsCommandsTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /** The models, by the CLI's name of the service. */
  private static final Map<String, String> MODELS =
      Map.of(
          "apigateway", "apigateway-2015-07-09",
          "apigatewayv2", "apigatewayv2-2018-11-29",
          "cloudformation", "cloudformation-2010-05-15",
          "cloudwatch", "monitoring-2010-08-01",
          "cognito-idp", "cognito-idp-2016-04-18",
          "dynamodb", "dynamodb-2012-08-10",
          "lambda", "lambda-2015-03-31",
          "logs", "logs-2014-03-28",
          "sqs", "sqs-2012-11-05",
          "sts", "sts-2011-06-15");

  /** Options that each command of the AWS CLI has. */
  private static final Set<String> GLOBAL = Set.of("output", "profile", "query", "region");

  /** A command at the begin of a line or between backquotes; a backslash continues a line. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "(?:^|`) *aws ([a-z0-9-]+) ([a-z0-9-]+)((?:\\\\\n|[^\\\\\n`#])*)", Pattern.MULTILINE);

  private static final Pattern OPTION = Pattern.compile("--([a-z][a-z0-9-]*)");

  /** The first name in a query. */
  private static final Pattern QUERY = Pattern.compile("--query\\s+\\\\?\\s*[\"']?(\\w+)");

  /** A command in the documentation. */
  record Documented(Path file, String service, String operation, String arguments) {
    @Override
    public String toString() {
      return "%s: aws %s %s".formatted(file, service, operation);
    }

    private Set<String> options() {
      return OPTION
          .matcher(arguments)
          .results()
          .map(option -> option.group(1))
          .filter(option -> !GLOBAL.contains(option))
          .collect(Collectors.toSet());
    }
  }

  static List<Documented> documented() throws IOException {
    try (Stream<Path> files = Files.list(ROOT);
        Stream<Path> pages = Files.walk(ROOT.resolve("docs"))) {
      return Stream.concat(files, pages)
          .filter(file -> file.toString().endsWith(".md"))
          .sorted()
          .flatMap(DocumentedAwsCommandsTest::commands)
          .toList();
    }
  }

  private static Stream<Documented> commands(Path file) {
    try {
      return COMMAND
          .matcher(Files.readString(file))
          .results()
          .map(
              command ->
                  new Documented(
                      ROOT.relativize(file), command.group(1), command.group(2), command.group(3)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @MethodSource("documented")
  void a_documented_command_is_one_of_the_aws_cli(Documented command) {
    assertThat(MODELS).containsKey(command.service());
    ServiceModel model = ServiceModel.read(MODELS.get(command.service()));
    Operation operation =
        model
            .operations()
            .filter(candidate -> hyphenated(candidate.name()).equals(command.operation()))
            .findAny()
            .orElseThrow(() -> new AssertionError("no such operation: " + command));
    Shapes shapes = model.shapes();

    Set<String> accepted =
        operation.input().stream()
            .flatMap(shape -> members(shapes, shape))
            .flatMap(member -> Stream.of(hyphenated(member), "no-" + hyphenated(member)))
            .collect(Collectors.toSet());
    assertThat(accepted).containsAll(command.options());

    // A command without any is only named.
    if (!command.options().isEmpty()) {
      List<String> required =
          operation.input().stream()
              .flatMap(shape -> shapes.shape(shape).path("required").valueStream())
              .map(JsonNode::asText)
              .map(DocumentedAwsCommandsTest::hyphenated)
              .toList();
      assertThat(command.options()).containsAll(required);
    }

    Matcher query = QUERY.matcher(command.arguments());
    if (query.find()) {
      assertThat(operation.output().stream().flatMap(shape -> members(shapes, shape)))
          .contains(query.group(1));
    }
  }

  private static Stream<String> members(Shapes shapes, String structure) {
    return shapes.shape(structure).path("members").propertyStream().map(Map.Entry::getKey);
  }

  /** {@code user-pool-id} of {@code UserPoolId}. */
  private static String hyphenated(String name) {
    return name.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
  }
}
