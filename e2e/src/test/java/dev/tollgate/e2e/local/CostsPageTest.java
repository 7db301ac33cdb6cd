package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The sums of {@code docs/reference/costs.md}, from the prices of {@code docs/prices.yaml}. */
final class CostsPageTest {
  private static final Path DOCS = Path.of("../docs");
  private static final double MINUTES = 365 * 24 * 60 / 12.0;
  private static final int SHARDS = 16;
  private static final int HEARTBEAT_MINUTES = 5;
  private static final int HOURS_OF_A_SOCKET = 2;

  private static String page() throws IOException {
    return Files.readString(DOCS.resolve("reference/costs.md"));
  }

  private static JsonNode prices() throws IOException {
    return new ObjectMapper(new YAMLFactory()).readTree(DOCS.resolve("prices.yaml").toFile());
  }

  /** What is assumed of 512 MB for 20 ms. */
  private static double invocation() throws IOException {
    return price("lambda-invocation") + 0.5 * 0.02 * price("lambda-gb-second");
  }

  private static double bytes(String of) throws IOException {
    return prices().at("/assumptions/bytes").path(of).asDouble();
  }

  private static double price(String of) throws IOException {
    JsonNode price = prices().path("prices").path(of);
    return price.path("dollars").asDouble() / price.path("for").asDouble();
  }

  private static String dollars(String format, double amount) {
    return String.format(Locale.ROOT, "$" + format, amount);
  }

  /** The first amount of a row that begins with this text. */
  private static double row(String start) throws IOException {
    Matcher row =
        Pattern.compile("^\\| " + Pattern.quote(start) + ".*?\\$([0-9.]+)", Pattern.MULTILINE)
            .matcher(page());
    assertThat(row.find()).as(start).isTrue();
    return Double.parseDouble(row.group(1));
  }

  private static double minutesOfASocket() throws IOException {
    return MINUTES * price("connection-minute");
  }

  /** A frame and its answer. */
  private static double heartbeatsOfASocket() throws IOException {
    return MINUTES / HEARTBEAT_MINUTES * 2 * price("websocket-frame");
  }

  private static double metrics() throws IOException {
    String page = Files.readString(DOCS.resolve("reference/metrics.md"));
    String own =
        page.substring(page.indexOf("## Tollgate's metrics"), page.indexOf("## Metrics of AWS"));
    long rows = Pattern.compile("^\\| `", Pattern.MULTILINE).matcher(own).results().count();
    // Connections, Messages and CredentialFailures are one metric for each value of a dimension.
    return (rows - 3) * price("custom-metric");
  }

  private static double alarms() throws IOException {
    Matcher number =
        Pattern.compile("each of (\\d+) metrics, and \\$0.50 for each of (\\d+) alarms")
            .matcher(Files.readString(DOCS.resolve("reference/metrics.md")));
    assertThat(number.find()).isTrue();
    return Integer.parseInt(number.group(1)) * price("alarm-metric")
        + Integer.parseInt(number.group(2)) * price("composite-alarm");
  }

  /**
   * A batch of each minute writes one row of a tenant, and one row more where it spans two rows of
   * ten minutes. A stream has a shard for each partition of its table, and a new table has four.
   */
  @Test
  void history_costs_its_rows() throws IOException {
    double write = price("dynamodb-write-unit");

    assertThat(row("the [history](../how-to/see-what-happened.md) of a tenant"))
        .isCloseTo(1.1 * MINUTES * write, within(0.005));
    assertThat(row("the history of all tenants together"))
        .isCloseTo(4 * MINUTES * (4 * write + invocation()), within(0.05));
  }

  /** A fill mints a hundredth of the capacity, or ten tokens, with each write of the row. */
  @Test
  void calendar_costs_a_fill_a_day() throws IOException {
    int steps = 1_000 / 10;
    double fill =
        price("schedule-invocation")
            + price("lambda-invocation")
            + price("dynamodb-read-unit")
            + price("sqs-standard-request")
            + steps
                * (price("sqs-standard-request")
                    + price("dynamodb-write-unit")
                    + 0.5 * 0.02 * price("lambda-gb-second"));

    assertThat(page())
        .containsPattern(
            "a bucket with a \\[calendar].* \\| \\"
                + dollars("%.4f", MINUTES / 1_440 * fill)
                + " \\|");
  }

  /** The rows of hours of 400 days, and of the tenants of minutes, which are kept for 28 hours. */
  private static double storageOfHours() throws IOException {
    double hours = 400 * 24 * (bytes("history-counts") + bytes("history-row"));
    double minutes = 28 * 60 * bytes("history-counts");
    return (hours + minutes) * 1e-9 * price("dynamodb-gb");
  }

  /** Each hour a tenant's row is written, and the tenants of its minutes are read: 8 KB a unit. */
  private static double hoursOfATenant() throws IOException {
    double read = MINUTES * bytes("history-counts") / 8_192 * price("dynamodb-read-unit");
    return MINUTES / 60 * price("dynamodb-write-unit") + read + storageOfHours();
  }

  /** Lambda samples one invocation of a function per second, and 5 % of the others. */
  @Test
  void traces_cost_what_lambda_samples() throws IOException {
    assertThat(page())
        .contains(
            "| traces of a function that is invoked in every second | "
                + dollars("%.2f", MINUTES * 60 * price("trace")),
            "| traces of a million further invocations | "
                + dollars("%.2f", 1_000_000 * 0.05 * price("trace")));
  }

  @Test
  void hours_cost_their_rows() throws IOException {
    assertThat(page())
        .contains(
            "| its hours, kept for 400 days | "
                + dollars("%.4f", hoursOfATenant())
                + ", of which "
                + dollars("%.4f", storageOfHours())
                + " is storage |");
  }

  @Test
  void the_command_cost_has_the_same_prices() throws IOException {
    Properties costs = new Properties();
    try (Reader file =
        Files.newBufferedReader(
            Path.of("../cli/src/main/resources/dev/tollgate/cli/history/unit-costs.properties"))) {
      costs.load(file);
    }
    Map<String, Double> dollars =
        Map.of(
            "admitted", row("a million admitted connections") / 1e6,
            "refused", row("a million refused connections") / 1e6,
            "message", security("frames: messages of 100 bytes"),
            "fill.PRODUCER", row("a tenant in use all month, `PRODUCER`") / MINUTES / 2,
            "fill.SHARED", row("the same, `SHARED`") / MINUTES / 2,
            "fill.DIRECT", row("the same, `DIRECT`") / MINUTES / 2,
            "history", 1.1 * price("dynamodb-write-unit"));

    assertThat(costs.stringPropertyNames()).isEqualTo(dollars.keySet());
    dollars.forEach(
        (name, amount) ->
            assertThat(Double.parseDouble(costs.getProperty(name)))
                .as(name)
                .isCloseTo(1e9 * amount, within(1.0)));
  }

  /** Dollars of one request of a row in SECURITY.md. */
  private static double security(String name) throws IOException {
    Matcher row =
        Pattern.compile(
                "^\\| " + Pattern.quote(name) + " .*\\*\\*([0-9.]+)\\*\\*", Pattern.MULTILINE)
            .matcher(Files.readString(Path.of("../SECURITY.md")));
    assertThat(row.find()).as(name).isTrue();
    return Double.parseDouble(row.group(1)) / 1e6;
  }

  @Test
  void watching_costs_its_parts() throws IOException {
    double line = bytes("function-log") * 1e-9 * price("log-gb");
    double ofAll = 4 * MINUTES * (4 * price("dynamodb-write-unit") + invocation());
    StringBuilder rows = new StringBuilder();
    add(rows, "metrics", tenants -> metrics());
    add(rows, "alarms", tenants -> alarms());
    add(rows, "history", tenants -> ofAll + tenants * 1.1 * MINUTES * price("dynamodb-write-unit"));
    add(rows, "hours of the history, after 400 days", tenants -> tenants * hoursOfATenant());
    add(
        rows,
        "checks of tokens, each tenant in use once an hour",
        tenants -> tenants * MINUTES / 60 * price("dynamodb-read-unit"));
    add(
        rows,
        "conditions of tenants, whose rows the sweep reads every five minutes, or every minute above"
            + " 20,000 tenants in use",
        CostsPageTest::conditions);
    add(rows, "log lines of the history", tenants -> 4 * MINUTES * line);
    add(rows, "log lines of fills, `PRODUCER`", tenants -> tenants * 2 * MINUTES * line);
    add(rows, "log lines of fills, `SHARED`", tenants -> SHARDS * MINUTES * line);

    assertThat(page()).contains(rows);
  }

  /** The rows of tenants, and the lines of five minutes of the history, read eventually. */
  private static double conditions(int tenants) throws IOException {
    double rows = tenants <= 20_000 ? tenants / 5.0 : tenants;
    double lines = 5 * tenants * bytes("history-line") / 8_192;
    return MINUTES * (rows + lines) * price("dynamodb-read-unit");
  }

  @Test
  void a_change_costs_its_entry_and_its_event() throws IOException {
    // An entry is in the table and in its index.
    double change = 2 * price("dynamodb-write-unit") + 2 * invocation() + price("event");
    assertThat(page()).contains("and its event | " + dollars("%.3f", 1_000 * change) + " |");
  }

  /** Dollars for a number of tenants. */
  private interface Dollars {
    double of(int tenants) throws IOException;
  }

  private static void add(StringBuilder rows, String name, Dollars dollars) throws IOException {
    rows.append("| ").append(name).append(" |");
    for (int tenants : new int[] {100, 1_000, 100_000}) {
      double amount = dollars.of(tenants);
      rows.append(' ').append(dollars(amount < 10 ? "%,.2f" : "%,.0f", amount)).append(" |");
    }
    rows.append('\n');
  }

  @Test
  void a_socket_costs_its_minutes_and_its_heartbeats() throws IOException {
    assertThat(page())
        .contains(
            "| a socket that is open all month | "
                + dollars("%.3f", minutesOfASocket() + heartbeatsOfASocket())
                + ": "
                + dollars("%.3f", minutesOfASocket()))
        .contains(dollars("%.3f", heartbeatsOfASocket()) + " for a heartbeat");
  }

  @Test
  void metrics_cost_their_number() throws IOException {
    assertThat(row("the [alarms]")).isEqualTo(alarms());
    assertThat(page()).contains("| " + dollars("%.2f", metrics()) + " at most: 39 metrics");
  }

  @Test
  void a_million_connections_cost_what_the_parts_in_security_cost() throws IOException {
    String cost = dollars("%.2f", row("a million admitted connections"));

    assertThat(Files.readString(Path.of("../SECURITY.md")))
        .containsPattern(
            "\\| handshakes that are admitted, .*\\*\\*" + cost.substring(1) + "\\*\\*");
    assertThat(Files.readString(Path.of("../README.md"))).contains("| " + cost + " |");
    assertThat(row("a million refused connections") / 1e6)
        .isEqualTo(security("handshakes of a session, refused for the tenant's rate"));
  }

  @Test
  void the_example_is_the_sum_of_its_parts() throws IOException {
    double sockets = 1_000 * (minutesOfASocket() + heartbeatsOfASocket());
    double returns =
        1_000 * MINUTES / 60 / HOURS_OF_A_SOCKET * row("a million admitted connections") / 1e6;
    double tenants = 100 * row("a tenant in use all month, `PRODUCER`");
    double messages = 10 * row("a million messages");
    double all = tenants + sockets + returns + messages + metrics() + row("the stack alone");

    assertThat(page())
        .contains(
            "`PRODUCER` (" + dollars("%.0f", tenants) + ")",
            "open sockets (" + dollars("%.0f", sockets) + ")",
            "come back (" + dollars("%.0f", returns) + ")",
            "in batches (" + dollars("%.0f", messages) + ")",
            "the metrics (" + dollars("%.0f", metrics()) + ")",
            "about " + dollars("%.0f", all) + " a month");
  }
}
