package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.terminal.Table;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/**
 * What AWS billed in the Region on the days of a run, by service. Cost Explorer knows a day about
 * 24 hours later, cannot tell this run from others of the account, and charges a cent.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_GetCostAndUsage.html">GetCostAndUsage</a>
 */
record Bill(JsonNode document, List<String> lines) {
  /** The only Region with Cost Explorer's API. */
  static final String REGION = "us-east-1";

  private static final String TARGET = "AWSInsightsIndexService.GetCostAndUsage";

  /**
   * @param account the account, in the Region of Cost Explorer's API
   * @param region the Region of the run
   * @param estimate the cents that the steps said
   * @throws Failure if Cost Explorer refuses
   */
  static Bill of(Account account, String region, Instant began, Instant ended, int estimate) {
    LocalDate first = LocalDate.ofInstant(began, ZoneOffset.UTC);
    LocalDate after = LocalDate.ofInstant(ended, ZoneOffset.UTC).plusDays(1);
    ObjectNode request = Json.object().put("Granularity", "DAILY");
    request.putObject("TimePeriod").put("Start", first.toString()).put("End", after.toString());
    request.putArray("Metrics").add("UnblendedCost");
    request.putArray("GroupBy").addObject().put("Type", "DIMENSION").put("Key", "SERVICE");
    request
        .putObject("Filter")
        .putObject("Dimensions")
        .put("Key", "REGION")
        .putArray("Values")
        .add(region);
    Response answer = account.call("ce", TARGET, request);
    if (!answer.succeeded()) {
      throw Failure.of(
          "Cost Explorer refuses: %d %s. It must be enabled in the account."
              .formatted(answer.status(), answer.body()));
    }
    Table table = new Table("DAY", "SERVICE", "DOLLARS");
    BigDecimal sum = BigDecimal.ZERO;
    for (JsonNode day : answer.json().path("ResultsByTime")) {
      for (JsonNode group : day.path("Groups")) {
        BigDecimal dollars =
            new BigDecimal(group.path("Metrics").path("UnblendedCost").path("Amount").asText("0"));
        sum = sum.add(dollars);
        table.row(
            day.path("TimePeriod").path("Start").asText(),
            group.path("Keys").path(0).asText(),
            dollars.toPlainString());
      }
    }
    List<String> lines = new ArrayList<>(table.lines());
    lines.add("");
    lines.add(
        "All of the account in %s on these days: $%s. The steps said: at most $%d.%02d."
            .formatted(region, sum.toPlainString(), estimate / 100, estimate % 100));
    return new Bill(answer.json(), lines);
  }
}
