package dev.tollgate.lawbook.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Lease;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import dev.tollgate.lawbook.TokenCounts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Limiters in other languages are judged by their answers, and processes that fail are not. */
class LimiterProcessTest {
  private static final Path EXAMPLES = Path.of("examples");
  private static final Duration LONG = Duration.ofMinutes(2);

  private static LimiterProcess example(String program, String file) throws IOException {
    return LimiterProcess.start(List.of(program, file), EXAMPLES, LONG);
  }

  /** A program in Node that answers each request by the expression, with the right id. */
  private static LimiterProcess answering(String answer) throws IOException {
    return node(
        "const answer = (request) => ("
            + answer
            + ");"
            + "require('readline').createInterface({input: process.stdin}).on('line', (line) => {"
            + "  const request = JSON.parse(line);"
            + "  console.log(JSON.stringify({id: request.id, ...answer(request)}));"
            + "});",
        LONG);
  }

  private static LimiterProcess node(String program, Duration answersWithin) throws IOException {
    return LimiterProcess.start(List.of("node", "-e", program), Path.of(""), answersWithin);
  }

  @Test
  void exact_bucket_keeps_the_laws_that_apply() throws IOException {
    try (LimiterProcess bucket = example("node", "bucket.mjs")) {
      assertKept(bucket.lawBook().hold(8));

      assertThat(bucket.notApplied())
          .isEqualTo(
              Map.of(
                  LimiterLaws.CONSERVATION, "it does not show its counts",
                  LimiterLaws.RETUNE_CONSERVES, "its terms cannot change"));
    }
  }

  @Test
  void fixed_window_breaks_laws() throws IOException {
    try (LimiterProcess window = example("node", "window.mjs")) {
      assertBroken(window);
    }
  }

  /** Only the nightly build needs {@code python3}. */
  @Test
  @Tag("nightly")
  void examples_in_python_get_the_same_results() throws IOException {
    try (LimiterProcess bucket = example("python3", "bucket.py");
        LimiterProcess window = example("python3", "window.py")) {
      assertKept(bucket.lawBook().hold(8));
      assertBroken(window);
    }
  }

  private static void assertKept(LawBook.Report report) {
    assertThat(report.judged())
        .containsEntry(LimiterLaws.NEVER_MORE.name(), 8)
        .containsEntry(LimiterLaws.NEVER_LATE.name(), 8)
        .containsEntry(LimiterLaws.RETRY_AFTER.name(), 8)
        .doesNotContainKey(LimiterLaws.CONSERVATION.name());
    assertThat(report.judged(LimiterLaws.ALL_OR_NONE)).isPositive();
    assertThat(report.judged(LimiterLaws.THROUGHPUT)).isPositive();
  }

  private static void assertBroken(LimiterProcess window) {
    assertThatThrownBy(() -> window.lawBook().only(List.of(LimiterLaws.NEVER_MORE)).replay(11))
        .isInstanceOf(LawViolation.class)
        .hasMessageContaining("the shortest history found");
  }

  /** What the limiter declares decides which laws apply. */
  @ParameterizedTest
  @CsvSource({
    "retryAfter, a lone caller that waits for Retry-After is admitted",
    "several, several tokens: all or none",
    "together, several tokens: all or none",
    "retune, a retune conserves",
    "counts, minted = spent + expired + held + in flight"
  })
  void law_applies_if_the_limiter_declares_what_it_needs(String ability, String law)
      throws IOException {
    try (LimiterProcess able =
            answering("{protocol: 1, clock: 'moved', %s: true}".formatted(ability));
        LimiterProcess unable = answering("{protocol: 1, clock: 'moved'}")) {
      assertThat(able.notApplied().keySet()).extracting(Law::name).doesNotContain(law);
      assertThat(unable.notApplied().keySet()).extracting(Law::name).contains(law);
    }
  }

  @Test
  void no_law_applies_to_a_clock_that_cannot_be_moved() throws IOException {
    try (LimiterProcess limiter = answering("{protocol: 1, clock: 'system', several: true}")) {
      assertThat(limiter.notApplied().values())
          .hasSize(LimiterLaws.ALL.size())
          .containsOnly("its clock cannot be moved");
      assertThatThrownBy(() -> limiter.make(new Setting(1)))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("Its clock cannot be moved");
    }
  }

  @Test
  void limiter_promises_its_own_terms() throws IOException {
    try (LimiterProcess limiter =
        answering(
            "request.op === 'hello' ? {protocol: 1, clock: 'moved'}"
                + ": {capacity: 7, slack: 3, lateness: 5, grain: 9, onDemand: true}")) {
      Terms drawn = Terms.any(new Random(1));

      assertThat(limiter.terms(new Random(1)))
          .isEqualTo(new Terms(drawn.rate(), 7, 3, Duration.ofNanos(5), true, Duration.ofNanos(9)));
    }
  }

  /** Each optional request gets what the limiter answers. */
  @Test
  void leases_counts_and_callers_at_the_same_time_are_read() throws IOException {
    String answers =
        "({hello: {protocol: 1, clock: 'moved', retryAfter: true, together: true, counts: true},"
            + "claim: {admitted: true, lease: 'a \\\\ \"b\"', endsAt: 5000000000},"
            + "spend: {spent: request.lease === 'a \\\\ \"b\"'},"
            + "together: {admitted: 1, retryAfter: 40},"
            + "counts: {minted: 15, spent: 1, expired: 2, held: 4, inFlight: 8}})[request.op]";
    try (LimiterProcess process = answering(answers)) {
      Limiter limiter = process.make(new Setting(1));

      Lease lease = ((Claim.Admitted) limiter.claim("t")).lease().orElseThrow();
      assertThat(lease.endsAt()).isEqualTo(Setting.START.plusSeconds(5));
      assertThat(lease.spend()).isEqualTo(Lease.Spending.SPENT);
      lease.giveBack();
      assertThat(limiter.claimTogether("t", 3, 2))
          .contains(
              List.of(
                  Claim.admitted(),
                  Claim.refused(Duration.ofNanos(40)),
                  Claim.refused(Duration.ofNanos(40))));
      assertThat(limiter.tokenCounts("t")).contains(new TokenCounts(15, 1, 2, 4, 8));
      assertThat(limiter.claim("t", 2)).isEmpty();
      assertThat(limiter.retune("t", Terms.any(new Random(1)))).isFalse();
    }
  }

  /** Lines that are no answer. The first of them answers the greeting. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "listening",
        "",
        "{",
        "{}",
        "{\"id\":2,\"protocol\":1,\"clock\":\"moved\"}",
        "{\"id\":1,\"protocol\":2,\"clock\":\"moved\"}",
        "{\"id\":1,\"protocol\":\"1\",\"clock\":\"moved\"}",
        "{\"id\":1,\"protocol\":1.5,\"clock\":\"moved\"}",
        "{\"id\":1,\"protocol\":1,\"clock\":\"mine\"}",
        "{\"id\":1,\"protocol\":1}",
        "{\"id\":1,\"protocol\":1,\"clock\":\"moved\",\"retryafter\":true}",
        "{\"id\":1,\"protocol\":1,\"clock\":\"moved\",\"several\":[]}",
        "{\"id\":1,\"protocol\":1,\"protocol\":1,\"clock\":\"moved\"}",
        "{\"id\":1,\"protocol\":1,\"clock\":\"moved\",}",
        "{\"id\":1,\"protocol\":1,\"clock\":\"moved\"}}",
        "{\"id\":1,\"protocol\":1,\"clock\":\"mov\\x65d\"}",
      })
  void bad_line_is_shown_with_its_request(String line) {
    String program = "console.log(String.raw`%s`); setInterval(() => {}, 1e6)".formatted(line);

    assertThatThrownBy(() -> node(program, LONG))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Bad answer to {\"id\":1,\"op\":\"hello\",\"protocol\":1}: expected ")
        .hasMessageContaining("Answer: " + line);
  }

  @Test
  void early_end_shows_the_status_and_standard_error() {
    assertThatThrownBy(() -> node("console.error('no store'); process.exit(3)", LONG))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("ended with status 3")
        .hasMessageContaining("no store");
  }

  /** A crash in a history is a failure of the process; no law is broken by it. */
  @Test
  void crash_in_a_history_breaks_no_law() throws IOException {
    try (LimiterProcess limiter =
        answering(
            "request.op === 'hello' ? {protocol: 1, clock: 'moved', retryAfter: true}"
                + " : request.op === 'claim' ? crash() : {}")) {
      assertThatThrownBy(() -> limiter.lawBook().hold(1))
          .isInstanceOf(AssertionError.class)
          .isNotInstanceOf(LawViolation.class)
          .hasMessageContaining("\"op\":\"claim\"")
          .hasMessageContaining("crash is not defined");
    }
  }

  @Test
  void silent_process_is_not_awaited_for_ever() {
    assertThatThrownBy(() -> node("setInterval(() => {}, 1e6)", Duration.ofMillis(1)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("No answer within PT0.001S to {\"id\":1,\"op\":\"hello\"");
  }

  @Test
  void endless_line_is_cut() {
    String program =
        "process.stdout.on('error', () => process.exit());"
            + "setInterval(() => process.stdout.write('x'.repeat(1000)), 0)";

    assertThatThrownBy(() -> node(program, LONG))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Bad answer");
  }

  /** The commands of the README name examples that exist, and its table names each request. */
  @Test
  void readme_names_the_examples_and_all_requests() throws IOException {
    String readme = Files.readString(Path.of("README.md"));
    List<String> shown =
        Pattern.compile("LimiterProcess \\w+ lawbook/(\\S+)")
            .matcher(readme)
            .results()
            .map(match -> match.group(1))
            .toList();

    assertThat(shown).hasSize(2).allSatisfy(file -> assertThat(Path.of(file)).isRegularFile());
    List<String> requests = new ArrayList<>();
    Pattern.compile("^\\| `(\\w+)` \\| `now|^\\| `(hello|terms)` \\|", Pattern.MULTILINE)
        .matcher(readme)
        .results()
        .forEach(row -> requests.add(row.group(1) == null ? row.group(2) : row.group(1)));
    assertThat(requests)
        .containsExactly(
            "hello",
            "terms",
            "reset",
            "open",
            "claim",
            "together",
            "spend",
            "giveBack",
            "retune",
            "counts");
  }
}
