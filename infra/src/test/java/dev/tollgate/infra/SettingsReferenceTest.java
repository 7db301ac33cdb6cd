package dev.tollgate.infra;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import software.amazon.awscdk.CfnOutput;

/**
 * The tables of {@code docs/reference/settings.md} have each option of the app, each property of
 * the construct and each output of the stack, with the values that the code accepts and its
 * defaults. {@code -Dreference.write=true} writes these cells anew; the others are written by hand.
 */
class SettingsReferenceTest {
  private static final Path PAGE = Path.of("../docs/reference/settings.md");
  private static final Path MAIN = Path.of("src/main/java/dev/tollgate/infra");

  /** How the app reads a context value: the way, the name, the default and the other value. */
  private static final Pattern READ =
      Pattern.compile(
          "\\b(context|choice|number)\\(\\s*app, \"(\\w+)\"(?:, \"(\\w*)\")?(?:, \"(\\w+)\")?");

  /** The probe stack alone has these, and no user sets them. */
  private static final Set<String> OF_THE_PROBE = Set.of("budgetEmail", "deleteAt", "probe");

  private static final Pattern EXPECTED = Pattern.compile("\\(expected: ([^;]*)(?:;.*)?\\)");
  private static final String NONE = "none";

  /** Set together by one method of the builder. */
  private static final String THROTTLE = "throttle";

  private static final List<String> THROTTLED = List.of("requestsPerSecond", "requestBurst");

  private static final Map<String, String> TOKENS =
      Map.of("jwtIssuer", "https://login.example.com", "jwtAudience", "tollgate");

  @Test
  void page_has_each_option_of_the_app() throws IOException {
    Map<String, List<String>> rows = new LinkedHashMap<>();
    reads().stream()
        .sorted(Comparator.comparing(read -> read.group(2)))
        .forEach(
            read ->
                rows.put(
                    "`" + read.group(2) + "`", List.of(accepted(read.group(2)), defaultOf(read))));
    assertTable("Options of the app", rows);
  }

  @Test
  void app_reads_each_context_value_in_a_way_that_this_test_finds() throws IOException {
    try (Stream<Path> files = Files.list(MAIN)) {
      String code = files.map(SettingsReferenceTest::read).collect(Collectors.joining());
      assertThat(code.split("tryGetContext\\(", -1)).hasSize(2);
    }
  }

  /** Commands such as {@code npx aws-cdk@2.1148.1 deploy -c prefix=blue_}, or parts of them. */
  @Test
  void documented_commands_give_options_that_the_app_has_to_one_version_of_the_cdk()
      throws IOException {
    Set<String> options = reads().stream().map(read -> read.group(2)).collect(Collectors.toSet());
    Set<String> given = new TreeSet<>();
    Set<String> versions = new TreeSet<>();
    for (Path page : pages()) {
      String text = read(page);
      Pattern.compile("(?<![\\w-])-c ([a-z]\\w*)=")
          .matcher(text)
          .results()
          .forEach(c -> given.add(c.group(1)));
      Pattern.compile("aws-cdk@([\\w.]+)")
          .matcher(text)
          .results()
          .forEach(v -> versions.add(v.group(1)));
      assertThat(text).as(page.toString()).doesNotContain("npx cdk", "npx aws-cdk ");
    }
    assertThat(given).isNotEmpty();
    assertThat(options).containsAll(given);
    assertThat(versions).hasSize(1);
  }

  private static List<Path> pages() throws IOException {
    Path root = Path.of("..");
    try (Stream<Path> files = Files.list(root);
        Stream<Path> docs = Files.walk(root.resolve("docs"));
        Stream<Path> examples = Files.walk(root.resolve("examples"), 2)) {
      return Stream.of(files, docs, examples)
          .flatMap(pages -> pages)
          .filter(page -> page.toString().endsWith(".md"))
          .toList();
    }
  }

  @Test
  void page_has_each_property_of_the_construct() throws IOException {
    Map<String, List<String>> rows = new LinkedHashMap<>();
    Set<String> shown = new LinkedHashSet<>();
    for (Method method : builderMethods()) {
      List<RecordComponent> set =
          Arrays.stream(TollgateProps.class.getRecordComponents())
              .filter(property -> isSetBy(method, property))
              .toList();
      String types =
          Arrays.stream(method.getParameterTypes())
              .map(Class::getSimpleName)
              .collect(Collectors.joining(", "));
      rows.put(
          "`" + method.getName() + "(" + types + ")`",
          List.of(
              set.stream()
                  .map(SettingsReferenceTest::accepted)
                  .distinct()
                  .collect(Collectors.joining(", ")),
              set.stream()
                  .map(property -> shown(value(property)))
                  .collect(Collectors.joining(", "))));
      set.forEach(property -> shown.add(property.getName()));
    }
    assertThat(shown).hasSize(TollgateProps.class.getRecordComponents().length);
    assertTable("Properties of the construct", rows);
  }

  @Test
  void page_has_each_output_of_the_stack() throws IOException {
    Map<String, Set<String>> outputs = new LinkedHashMap<>();
    outputs.put("", outputs(Map.of()));
    for (MatchResult read : reads()) {
      if (read.group(1).equals("choice")) {
        outputs.put(
            "`" + read.group(2) + "=" + read.group(4) + "`",
            outputs(Map.of(read.group(2), read.group(4))));
      }
    }
    outputs.put("`jwtIssuer=…`", outputs(TOKENS));
    Map<String, List<String>> rows = new LinkedHashMap<>();
    outputs.values().stream()
        .flatMap(Set::stream)
        .distinct()
        .forEach(
            name ->
                rows.put(
                    "`" + name + "`",
                    List.of(
                        outputs.getOrDefault("", Set.of()).contains(name)
                            ? stacks(outputs, names -> !names.contains(name))
                            : "all but " + stacks(outputs, names -> names.contains(name)))));
    assertTable("Outputs of the stack", rows);
  }

  /** The options of the stacks whose outputs match. */
  private static String stacks(Map<String, Set<String>> outputs, Predicate<Set<String>> matching) {
    return outputs.entrySet().stream()
        .filter(stack -> matching.test(stack.getValue()))
        .map(Map.Entry::getKey)
        .reduce((one, other) -> one + ", " + other)
        .orElse("–");
  }

  /**
   * Compares the first cells of a table with these rows. Its last cells are written by hand, and
   * not empty.
   */
  private static void assertTable(String heading, Map<String, List<String>> rows)
      throws IOException {
    String page = Files.readString(PAGE);
    Matcher table =
        Pattern.compile(
                "## "
                    + heading
                    + "\n(?:[^#][^\n]*\n|\n)*?\\|(?: --- \\|)+\n(?<rows>(?:\\|[^\n]*\n)*)")
            .matcher(page);
    assertThat(table.find()).as("table of %s", heading).isTrue();
    Map<String, List<String>> written =
        table
            .group("rows")
            .lines()
            .map(line -> List.of(line.substring(2, line.length() - 2).split(" \\| ", -1)))
            .collect(Collectors.toMap(cells -> cells.get(0), cells -> cells));
    StringBuilder expected = new StringBuilder();
    rows.forEach(
        (name, generated) -> {
          List<String> cells = new ArrayList<>(List.of(name));
          cells.addAll(generated);
          List<String> old = written.getOrDefault(name, List.of());
          cells.addAll(
              old.size() > cells.size() ? old.subList(cells.size(), old.size()) : List.of("TODO"));
          expected.append("| ").append(String.join(" | ", cells)).append(" |\n");
        });
    if (Boolean.getBoolean("reference.write")) {
      Files.writeString(
          PAGE,
          page.substring(0, table.start("rows")) + expected + page.substring(table.end("rows")));
    }
    assertThat(expected.toString()).doesNotContain("TODO").doesNotContain("|  |");
    assertThat(Files.readString(PAGE))
        .as("-Dreference.write=true writes the table of %s", heading)
        .contains("|\n" + expected)
        .hasSize(page.length() - table.group("rows").length() + expected.length());
  }

  private static List<MatchResult> reads() {
    List<MatchResult> reads =
        READ.matcher(read(MAIN.resolve("TollgateApp.java")))
            .results()
            .filter(read -> !OF_THE_PROBE.contains(read.group(2)))
            .toList();
    assertThat(reads).hasSizeGreaterThan(5);
    return reads;
  }

  private static String defaultOf(MatchResult read) {
    if (read.group(1).equals("choice")) {
      return "`" + read.group(3) + "`";
    }
    return Arrays.stream(TollgateProps.class.getRecordComponents())
        .filter(property -> property.getName().equals(read.group(2)))
        .map(property -> shown(value(property)))
        .findFirst()
        .orElse(NONE);
  }

  /** What the app accepts as an option, from its message for a value that it refuses. */
  private static String accepted(String option) {
    Map<String, String> context = new TreeMap<>(TOKENS);
    context.put(option, " ");
    try {
      TollgateApp.stack(TollgateApp.app(context), Synthesis.jarsWithoutCode());
    } catch (RuntimeException refused) {
      // The CDK itself refuses a file that does not exist.
      return expectation(refused).orElse("the path of a file");
    }
    throw new AssertionError(option + ": a blank is accepted");
  }

  /** What a property accepts, from the message for a value that it refuses. */
  private static String accepted(RecordComponent property) {
    RecordComponent[] all = TollgateProps.class.getRecordComponents();
    Class<?> type = property.getType();
    Object wrong =
        type == String.class
            ? " "
            : type == int.class
                ? (Object) 0
                : type == OptionalInt.class
                    ? OptionalInt.of(0)
                    : type == Optional.class ? Optional.of(" ") : value(property);
    try {
      TollgateProps.class
          .getDeclaredConstructor(
              Arrays.stream(all).map(RecordComponent::getType).toArray(Class<?>[]::new))
          .newInstance(
              IntStream.range(0, all.length)
                  .mapToObj(
                      i -> all[i].getName().equals(property.getName()) ? wrong : value(all[i]))
                  .toArray());
      return "any";
    } catch (InvocationTargetException refused) {
      return expectation(refused.getCause()).orElseThrow();
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static Optional<String> expectation(Throwable refused) {
    Matcher expected = EXPECTED.matcher(String.valueOf(refused.getMessage()));
    return expected.find()
        // A pattern is code, or Markdown would take its brackets for a link.
        ? Optional.of(expected.group(1).replaceAll("\\[\\S+", "`$0`"))
        : Optional.empty();
  }

  private static Object value(RecordComponent property) {
    try {
      return property.getAccessor().invoke(TollgateProps.builder().build());
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static String shown(Object value) {
    if (List.of("", OptionalInt.empty(), Optional.empty()).contains(value)) {
      return NONE;
    }
    if (value.equals(FunctionJars.under(Path.of("")))) {
      return "`FunctionJars.under(Path.of(\"\"))`";
    }
    return value instanceof SessionAccess
        ? "`new SessionAccess." + value.getClass().getSimpleName() + "()`"
        : "`" + value + "`";
  }

  /** The methods that set properties, in the order of the properties. */
  private static List<Method> builderMethods() {
    Map<String, Method> methods =
        Arrays.stream(TollgateProps.Builder.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .filter(method -> method.getReturnType() == TollgateProps.Builder.class)
            .collect(Collectors.toMap(Method::getName, method -> method));
    List<Method> ordered =
        Arrays.stream(TollgateProps.class.getRecordComponents())
            .map(RecordComponent::getName)
            .map(name -> methods.get(THROTTLED.contains(name) ? THROTTLE : name))
            .distinct()
            .toList();
    assertThat(ordered).containsExactlyInAnyOrderElementsOf(methods.values());
    return ordered;
  }

  private static boolean isSetBy(Method method, RecordComponent property) {
    return method.getName().equals(property.getName())
        || (method.getName().equals(THROTTLE) && THROTTLED.contains(property.getName()));
  }

  private static Set<String> outputs(Map<String, String> context) {
    return TollgateApp.stack(TollgateApp.app(context), Synthesis.jarsWithoutCode())
        .getNode()
        .getChildren()
        .stream()
        .filter(CfnOutput.class::isInstance)
        .map(output -> output.getNode().getId())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
