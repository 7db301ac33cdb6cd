package dev.tollgate.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.verify.Result.Evidence;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

class ReportTest {
  private static final Check RACE =
      new Check("race", "Exactly as many as fit.", Duration.ofSeconds(5), trial -> {});
  private static final Check POOL =
      new Check("pool", "Byte for byte.", Duration.ofSeconds(5), trial -> {});
  private static final Check DUE =
      new Check("due", "At most 2 s late.", Duration.ofSeconds(5), trial -> {});

  @TempDir private Path directory;

  private static Report report(List<String> leftOver, Result... results) {
    return new Report(
        "verify-abc", List.of(results), leftOver, List.of(), Duration.ofMillis(61_500));
  }

  private static Result passed() {
    return new Result.Passed(
        DUE, new Evidence(List.of(), Map.of("tokens", "18"), Duration.ofSeconds(2)));
  }

  private static Result failed() {
    return new Result.Failed(
        RACE,
        new Evidence(List.of("20 handshakes"), Map.of(), Duration.ofMillis(1_250)),
        "sockets: 5",
        "6 <&> \0");
  }

  private static Result skipped() {
    return new Result.Skipped(
        POOL, new Evidence(List.of(), Map.of(), Duration.ZERO), "a token is needed");
  }

  private static Result inapplicable() {
    return new Result.Inapplicable(
        POOL, new Evidence(List.of(), Map.of(), Duration.ZERO), "no messages");
  }

  @Test
  void the_text_shows_what_a_failed_check_expected_saw_and_did() {
    assertThat(
            report(
                    List.of("tenant verify-abc-pool", "tier verify-abc-pool"),
                    passed(),
                    failed(),
                    skipped())
                .lines())
        .containsExactly(
            "PASSED  due           2.0 s  At most 2 s late.",
            "           tokens: 18",
            "FAILED  race          1.3 s  Exactly as many as fit.",
            "           expected  sockets: 5",
            "           seen      6 <&> \0",
            "           done      20 handshakes",
            "SKIPPED pool          0.0 s  Byte for byte.",
            "           reason    a token is needed",
            "",
            "3 checks in 61.5 s: 1 passed, 1 failed, 1 skipped.",
            "Not removed: tenant verify-abc-pool. Remove it with `tollgate tenants offboard"
                + " verify-abc-pool`.",
            "Not removed: tier verify-abc-pool. Remove it with `tollgate tiers delete"
                + " verify-abc-pool`.");
  }

  @Test
  void a_run_passes_only_if_every_check_and_answer_did_and_everything_was_removed() {
    assertThat(report(List.of(), passed()).passed()).isTrue();
    assertThat(report(List.of(), passed(), inapplicable()).passed()).isTrue();
    assertThat(report(List.of(), passed(), failed()).passed()).isFalse();
    assertThat(report(List.of(), passed(), skipped()).passed()).isFalse();
    assertThat(report(List.of("verify-abc-due"), passed()).passed()).isFalse();
    Report differing =
        new Report(
            "verify-abc", List.of(passed()), List.of(), List.of("PUT /tiers/x 200"), Duration.ZERO);
    assertThat(differing.passed()).isFalse();
    assertThat(differing.lines()).contains("Not as in the contract: PUT /tiers/x 200");
  }

  @Test
  void the_junit_report_counts_failures_and_skips_and_is_valid_xml() throws Exception {
    Path file = directory.resolve("report.xml");

    Element suite = junit(report(List.of(), passed(), failed(), skipped()));

    assertThat(suite.getAttribute("tests")).isEqualTo("4");
    assertThat(suite.getAttribute("failures"))
        .as("and the run, as a check is skipped")
        .isEqualTo("2");
    assertThat(suite.getAttribute("skipped")).isEqualTo("1");
    assertThat(suite.getElementsByTagName("failure").item(0).getTextContent())
        .isEqualTo("expected sockets: 5\nseen     6 <&> ?\n");
    assertThat(Files.readString(file)).contains("name=\"race\" time=\"1.25\"");
  }

  private Element junit(Report report) throws Exception {
    Path file = directory.resolve("report.xml");
    JunitXml.write(report, file);
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(file.toFile())
        .getDocumentElement();
  }

  @Test
  void the_junit_report_fails_just_if_the_run_does() throws Exception {
    assertThat(junit(report(List.of(), passed())).getAttribute("failures")).isEqualTo("0");
    Element inapplicable = junit(report(List.of(), passed(), inapplicable()));
    assertThat(inapplicable.getAttribute("failures")).isEqualTo("0");
    assertThat(inapplicable.getAttribute("skipped")).isEqualTo("1");
    Report differing =
        new Report(
            "verify-abc", List.of(passed()), List.of(), List.of("PUT /tiers/x 200"), Duration.ZERO);
    for (Report failing :
        List.of(
            report(List.of("tier verify-abc-pool"), passed()),
            report(List.of(), passed(), skipped()),
            differing)) {
      Element suite = junit(failing);
      assertThat(failing.passed()).isFalse();
      assertThat(suite.getAttribute("failures")).isEqualTo("1");
      assertThat(suite.getElementsByTagName("failure").getLength()).isEqualTo(1);
    }
  }
}
