package dev.tollgate.league;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.LimiterLaws;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table in docs/league.md is what the law book finds in the pinned versions. */
class LeagueTest {
  private static final Path ROOT = Path.of("..");

  /** Ten times as many histories would take most of an hour. */
  private static final Set<String> ON_A_STORE =
      Set.of("bucket4j-redis", "bucket4j-dynamodb", "gcra");

  /** Also with {@code -Dtests.times}: more histories break no other law, except on a store. */
  @Tag("nightly")
  @Test
  void table_is_as_published() throws IOException {
    Map<Entry, Map<Law<Limiter.Maker>, Verdict>> verdicts =
        League.verdicts(League.ENTRIES, League.HISTORIES);

    assertThat(Files.readAllLines(ROOT.resolve("docs/league.md")))
        .containsSubsequence(League.table(verdicts).lines().toList());
    int times = Integer.getInteger(LawBook.TIMES, 1);
    if (times > 1) {
      verdicts.keySet().removeIf(entry -> ON_A_STORE.contains(entry.id()));
      assertThat(broken(League.verdicts(List.copyOf(verdicts.keySet()), League.HISTORIES * times)))
          .isEqualTo(broken(verdicts));
    }
  }

  private static List<String> broken(Map<Entry, Map<Law<Limiter.Maker>, Verdict>> verdicts) {
    return verdicts.entrySet().stream()
        .flatMap(
            row ->
                row.getValue().entrySet().stream()
                    .filter(cell -> cell.getValue() instanceof Verdict.Broken)
                    .map(cell -> row.getKey().id() + ": " + cell.getKey() + cell.getValue()))
        .toList();
  }

  @Test
  void versions_in_the_table_are_the_pinned_ones() throws IOException {
    String pom = Files.readString(ROOT.resolve("pom.xml"));

    Map<String, String> properties =
        Map.of(
            "bucket4j", "bucket4j_jdk17",
            "bucket4j-redis", "bucket4j",
            "bucket4j-dynamodb", "bucket4j-dynamodb",
            "resilience4j", "resilience4j",
            "guava", "guava",
            "sentinel", "sentinel");
    properties.forEach(
        (library, property) -> {
          String name =
              League.ENTRIES.stream()
                  .filter(e -> e.id().equals(library))
                  .findFirst()
                  .orElseThrow()
                  .name();
          String version =
              Pattern.compile("[0-9.]+[0-9]")
                  .matcher(name.replaceFirst("^\\S+", ""))
                  .results()
                  .findFirst()
                  .orElseThrow()
                  .group();
          assertThat(pom).contains("<dep." + property + ".version>" + version);
        });
  }

  @Test
  void version_of_the_npm_package_in_the_table_is_the_pinned_one() throws IOException {
    Path node = Path.of("src/main/node");
    String version =
        League.ENTRIES.stream()
            .filter(e -> e.id().equals("rate-limiter-flexible"))
            .map(e -> e.name().split(" ")[1])
            .findFirst()
            .orElseThrow();

    assertThat(node.resolve("package.json"))
        .content()
        .contains("\"rate-limiter-flexible\": \"" + version + "\"");
    assertThat(node.resolve("package-lock.json"))
        .content()
        .contains("\"version\": \"" + version + "\"", "\"integrity\": \"sha512-");
  }

  @Test
  void replay_shows_the_shortest_history_of_each_broken_law() {
    Entry item =
        League.ENTRIES.stream().filter(e -> e.id().equals("item")).findFirst().orElseThrow();

    assertThat(League.replay(item, 87, false))
        .contains(LimiterLaws.NEVER_MORE.name(), "the shortest history found")
        .doesNotContain(LimiterLaws.NEVER_LATE.name());
    assertThat(League.replay(item, 1, false)).isEqualTo("No law is broken in history 1.\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "item | 1 arguments (expected: none, or LIMITER SEED [exact])",
        "item 1 exact 2 | 4 arguments (expected: none, or LIMITER SEED [exact])",
        "item 1 exactly | exactly (expected: exact)",
        "item 0 | seed: 0 (expected: a whole number above 0)",
        "item one | seed: one (expected: a whole number above 0)",
        "items 1 | limiter: items (expected: one of bucket4j, ",
        "concurrency-limits 1 | limiter: concurrency-limits has no histories: it limits calls",
      })
  void invalid_arguments_are_named(String arguments, String error) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> League.output(arguments.split(" ")))
        .withMessageStartingWith(error);
  }
}
