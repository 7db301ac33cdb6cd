package dev.tollgate.controlplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/reference/quotas.md} has each quota that the doctor checks, with what it expects.
 * {@code -Dreference.write=true} writes the table of tiers anew.
 */
class QuotaReferenceTest {
  private static final Path PAGE = Path.of("../docs/reference/quotas.md");
  private static final Pattern CHECKED =
      Pattern.compile("^\\| `([a-z-]+)` \\| \\[", Pattern.MULTILINE);
  private static final Pattern TIERS =
      Pattern.compile(
          "\\| tier \\| connections a second \\| tenants \\|\n\\| --- \\| --- \\| --- \\|\n"
              + "((?:\\|[^\n]*\n)*)");

  @Test
  void page_has_each_quota_that_is_checked() throws IOException {
    assertThat(CHECKED.matcher(Files.readString(PAGE)).results().map(found -> found.group(1)))
        .containsExactlyElementsOf(
            Arrays.stream(Finding.Quota.values()).map(Finding.Quota::key).toList());
  }

  @Test
  void page_has_what_is_expected_of_each() throws IOException {
    assertThat(Files.readString(PAGE))
        .contains(
            "| %d, one for each function of the stack, and one for each silo |"
                .formatted(QuotaCheck.STACK_FUNCTIONS),
            "| room for %d more silos, or for a tenth more if that is more |"
                .formatted(QuotaCheck.MIN_MORE_SILOS),
            "WebSocket connections a second. %d, or".formatted(connectionQuota()),
            "| %,d silos for `doctor`;".formatted(1_000 - QuotaCheck.STACK_FUNCTIONS));
  }

  @Test
  void page_has_the_number_of_tenants_that_reach_the_quota_of_connections() throws IOException {
    String page = Files.readString(PAGE);
    MatchResult table = table(page);
    String rows = Tier.DEFAULTS.stream().map(QuotaReferenceTest::row).collect(Collectors.joining());
    if (Boolean.getBoolean("reference.write")) {
      Files.writeString(
          PAGE, page.substring(0, table.start(1)) + rows + page.substring(table.end(1)));
    }
    assertThat(table(Files.readString(PAGE)).group(1))
        .as("-Dreference.write=true writes it")
        .isEqualTo(rows);
  }

  private static MatchResult table(String page) {
    Matcher table = TIERS.matcher(page);
    assertThat(table.find()).isTrue();
    return table.toMatchResult();
  }

  private static String row(Tier tier) {
    long perMinute = tier.limits().get(Limit.TENANT_PER_MINUTE);
    return "| %s | %d | %,d |\n"
        .formatted(tier.name(), perMinute / 60, connectionQuota() * 60 / perMinute);
  }

  /** The quota that the doctor assumes by default. */
  private static int connectionQuota() {
    return new AwsEnvironment(Map.of(), InstantSource.system(), line -> {}).connectionQuota();
  }
}
